//! Whose a private folder is, written in its name: what an owner that was killed has left is known by
//! it, and removed by the next one.
//!
//! A number of a process means something only on one machine, since it was started, and among the
//! processes that see each other. All that is in the name too, and a folder of elsewhere is left alone.

#![expect(clippy::disallowed_methods, reason = "private folders are listed and removed, and /proc is read")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::process::{secret_word, tree};

/// What the names of private folders begin with.
const PREFIX: &str = "hermes-";

/// Letters of the part nobody can guess. Names are short, because sockets stand in such folders and
/// their whole path has room for a hundred letters only.
const SECRET: usize = 8;

/// Digits of numbers in names.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// A process that owns folders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    pid: i32,
    /// In ticks since the machine started.
    started: u64,
    /// The machine since its start, and the processes that see each other on it.
    world: u64,
}

/// A new name for a folder of ours.
pub(crate) fn name() -> String {
    let secret = secret_word();
    match ourselves() {
        Some(owner) => owner.name(secret.get(..SECRET).unwrap_or(&secret)),
        // Where nothing is told about processes, nobody can tell later whether its owner is gone.
        None => format!("{PREFIX}{secret}"),
    }
}

/// Removes the folders of owners that are gone.
pub(crate) fn sweep(place: &Path) {
    let (Some(own), Ok(entries)) = (ourselves(), fs::read_dir(place)) else { return };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        let owner = entry.file_name().to_str().and_then(Owner::parse);
        let is_left = owner.is_some_and(|owner| owner.world == own.world && !owner.is_alive());
        // Not through a link: what it leads to is not ours.
        let is_ours = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user);
        if is_left && is_ours() {
            // Whoever else removes it at this moment has our thanks.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Owner {
    fn name(&self, secret: &str) -> String {
        let Self { pid, started, world } = self;
        let numbers = [u64::from(pid.unsigned_abs()), *started, *world].map(in_letters);
        format!("{PREFIX}{secret}-{}", numbers.join("-"))
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        parts.next().filter(|secret| secret.len() == SECRET)?;
        let mut number = || u64::from_str_radix(parts.next()?, 36).ok();
        let (pid, started, world) = (number()?, number()?, number()?);
        let owner = Self { pid: i32::try_from(pid).ok()?, started, world };
        parts.next().is_none().then_some(owner)
    }

    fn is_alive(&self) -> bool {
        tree::is_alive(self.pid, self.started)
    }
}

/// This process, where it can be told.
fn ourselves() -> Option<Owner> {
    let pid = std::process::id().cast_signed();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    let world = short_hash(&[boot.trim().as_bytes(), space.as_os_str().as_encoded_bytes()]);
    Some(Owner { pid, started: tree::look(pid)?.started, world })
}

/// A number of at most six digits that is hardly ever the same for something else.
fn short_hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    hash % 36_u64.pow(6)
}

fn in_letters(mut number: u64) -> String {
    let mut letters = Vec::new();
    loop {
        let digit = usize::try_from(number % 36).ok().and_then(|at| DIGITS.get(at));
        letters.extend(digit.copied().map(char::from));
        number /= 36;
        if number == 0 {
            return letters.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_an_owner_that_is_gone_has_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let own = ourselves().unwrap();
        let gone = Owner { started: own.started + 1, ..own.clone() };
        let elsewhere = Owner { world: own.world + 1, ..gone.clone() };
        let make = |name: &str| fs::create_dir_all(place.path().join(name).join("0/profile")).unwrap();
        let stays = [own.name("aaaaaaaa"), elsewhere.name("bbbbbbbb"), "hermes-notes".to_owned(), name()];
        for name in &stays {
            make(name);
        }
        make(&gone.name("cccccccc"));
        make("kept");
        let link = gone.name("dddddddd");
        std::os::unix::fs::symlink(place.path().join("kept"), place.path().join(&link)).unwrap();

        sweep(place.path());

        let left = fs::read_dir(place.path()).unwrap().flatten();
        let mut left: Vec<String> =
            left.map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect();
        let mut wanted = [&stays[..], &["kept".to_owned(), link]].concat();
        left.sort();
        wanted.sort();
        assert_eq!(left, wanted);
        assert!(place.path().join("kept/0/profile").exists());
    }

    #[test]
    fn names_leave_room_for_sockets() {
        let largest = Owner { pid: 4_194_304, started: 36_u64.pow(7) - 1, world: 36_u64.pow(6) - 1 };

        assert!(largest.name("aaaaaaaa").len() <= 36, "{}", largest.name("aaaaaaaa"));
        assert_ne!(name(), name());
    }

    proptest! {
        #[test]
        fn a_name_tells_its_owner(pid in 1..i32::MAX, started: u64, world in 0..36_u64.pow(6)) {
            let owner = Owner { pid, started, world };
            prop_assert_eq!(Owner::parse(&owner.name("0123abcd")), Some(owner));
        }

        #[test]
        fn any_other_name_is_nobodys(name in "(hermes-)?[a-z0-9-]{0,30}") {
            if let Some(owner) = Owner::parse(&name) {
                let secret = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()).unwrap();
                prop_assert_eq!(secret.len(), SECRET, "{:?}", owner);
            }
        }
    }
}
