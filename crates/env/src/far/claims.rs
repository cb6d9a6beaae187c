//! Which programs of this home use a place at this moment.
//!
//! A container that stays and a sandbox that is kept belong to a home, not to a program: two that run at the
//! same time share them. Each holds a claim, a lock that goes with its process however that ends. Whoever
//! makes a place ready or lets go of it stands in its door meanwhile, so that none is made twice and none is
//! stopped while somebody comes in.

#![expect(clippy::disallowed_methods, reason = "the files that programs of one home hold locks on are ours")]

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::backends::Surroundings;

/// The folder of the locks, below that of what outlives places.
const FOLDER: &str = ".in-use";

/// The locks of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claims {
    folder: PathBuf,
    /// What the place is known by.
    place: String,
    /// What is shared of it: each is a thing that others may use too.
    things: Vec<String>,
}

/// Held by who makes a place ready, or lets go of it. Where there can be no locks it is always open.
pub(super) struct Door(#[expect(dead_code, reason = "the lock goes with it")] Option<File>);

/// Held as long as a place is used.
pub(super) struct Claim(#[expect(dead_code, reason = "the lock goes with it")] File);

impl Claims {
    /// The locks of a place; nothing where there is no folder for them. Both names are words that files can
    /// have.
    pub(crate) fn new(around: &Surroundings, place: &str, things: Vec<String>) -> Option<Self> {
        let folder = around.sandbox.as_ref()?.join(FOLDER);
        Some(Self { folder, place: place.to_owned(), things })
    }

    /// Whether anything of the place is shared.
    pub(super) fn are_shared(&self) -> bool {
        !self.things.is_empty()
    }

    /// Stands in the door, unless somebody else does.
    pub(super) fn door(&self) -> Option<Door> {
        let Ok(file) = self.file(&format!("{}.door", self.place)) else { return Some(Door(None)) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Ok(()) | Err(TryLockError::Error(_)) => Some(Door(Some(file))),
        }
    }

    /// Takes what is shared; whoever does that stands in the door.
    pub(super) fn take(&self) -> Vec<Claim> {
        let taken = self.things.iter().filter_map(|thing| {
            let file = self.file(thing).ok()?;
            // Nobody keeps others out for longer than it takes to look.
            file.lock_shared().ok().map(|()| Claim(file))
        });
        taken.collect()
    }

    /// Whether somebody holds what is shared.
    pub(super) fn are_taken(&self) -> bool {
        self.things.iter().any(|thing| self.is_taken(thing))
    }

    /// Whether somebody holds one thing, which may be another than those that are shared now.
    pub(crate) fn is_taken(&self, thing: &str) -> bool {
        let held = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        File::open(self.folder.join(thing)).is_ok_and(held)
    }

    /// Removes the files of what nobody holds any more; whoever does that stands in the door.
    pub(super) fn discard(&self) {
        for thing in &self.things {
            // One that stays is empty, and used again.
            let _ = fs::remove_file(self.folder.join(thing));
        }
    }

    fn file(&self, name: &str) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        File::options().read(true).write(true).create(true).truncate(false).open(self.folder.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(folder: &tempfile::TempDir) -> Claims {
        let sandbox = Some(folder.path().join("sandboxes"));
        let around = Surroundings { sandbox, ..Surroundings::default() };
        Claims::new(&around, "p", vec!["p-1".to_owned(), "p-2".to_owned()]).unwrap()
    }

    #[test]
    fn what_several_hold_is_taken_until_the_last_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let claims = claims(&folder);
        assert!(!claims.are_taken());

        let (one, two) = (claims.take(), claims.take());
        drop(one);

        assert!(claims.are_taken() && claims.is_taken("p-2") && !claims.is_taken("p-3"));
        drop(two);
        assert!(!claims.are_taken());
        claims.discard();
        assert!(!claims.are_taken());
    }

    #[test]
    fn only_one_stands_in_the_door() {
        let folder = tempfile::tempdir().unwrap();
        let claims = claims(&folder);

        let door = claims.door();

        assert!(door.is_some() && claims.door().is_none());
        drop(door);
        assert!(claims.door().is_some());
    }

    #[test]
    fn without_a_folder_nothing_is_claimed() {
        assert_eq!(Claims::new(&Surroundings::default(), "p", Vec::new()), None);
    }
}
