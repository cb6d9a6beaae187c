//! Witnesses: the files and folders from which something was found out, with the dates they had. As long
//! as those are the same it need not be found out again, and nothing is opened or listed to see that.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::disk::{self, Stamp};
use crate::error::StoreError;
use crate::home::Home;

/// Most bytes of something that is kept.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Dates of files come in steps, and a file that changed twice within one looks as if it had not. This is
/// longer than any step.
const STEP_NANOS: i128 = 50_000_000;

/// What was looked at. A folder counts with the names in it, a file with its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witnesses {
    /// Asked whenever anybody wants to know.
    near: Vec<Witness>,
    /// Asked by a program that starts.
    far: Vec<Witness>,
}

/// A path, and what was there.
type Witness = (PathBuf, Option<Stamp>);

impl Witnesses {
    /// Takes note of what is there now. To be done before it is opened or listed: what changes meanwhile
    /// is then seen the next time.
    pub fn see(&mut self, path: &Path) -> Option<Stamp> {
        let stamp = disk::any_stamp(path);
        self.near.push((path.to_owned(), stamp));
        stamp
    }

    /// The same for something of which a program that runs does not want to know.
    pub(crate) fn see_far(&mut self, path: &Path) -> Option<Stamp> {
        let stamp = disk::any_stamp(path);
        self.far.push((path.to_owned(), stamp));
        stamp
    }

    /// Takes over what others have seen.
    pub fn join(&mut self, others: Self) {
        self.near.extend(others.near);
        self.far.extend(others.far);
    }

    /// Keeps of what was seen more than once the first look: what changed in between is then noticed.
    pub fn settle(&mut self) {
        for seen in [&mut self.near, &mut self.far] {
            seen.sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
            seen.dedup_by(|(later, _), (first, _)| later.as_os_str() == first.as_os_str());
        }
    }

    /// Whether everything near is as it was.
    pub fn hold(&self) -> bool {
        self.near.iter().all(is_same)
    }

    /// Whether everything is as it was, and had been so for a while when `kept` was written.
    pub(crate) fn hold_since(&self, kept: Stamp) -> bool {
        let mut all = self.near.iter().chain(&self.far);
        all.all(|witness| {
            let before = |stamp: Stamp| kept.written_nanos().saturating_sub(stamp.touched_nanos());
            witness.1.is_none_or(|stamp| before(stamp) > STEP_NANOS) && is_same(witness)
        })
    }
}

/// Something that was found out, and what from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept<T> {
    /// What it was found out from.
    pub witnesses: Witnesses,
    /// What was found out.
    pub found: T,
}

impl<T: DeserializeOwned> Kept<T> {
    /// What was kept in the home's cache under this name, if it still holds.
    pub fn read(home: &Home, name: &str) -> Option<Self> {
        let path = home.cache().join(name);
        let stamp = disk::stamp(&path)?;
        let text = disk::read(&path, MAX_BYTES).ok().flatten()?;
        let kept: Self = serde_json::from_str(&text).ok()?;
        kept.witnesses.hold_since(stamp).then_some(kept)
    }
}

impl<T: Serialize> Kept<T> {
    /// Keeps it for programs that start later. After a power cut it may have to be found out again.
    pub fn keep(&self, home: &Home, name: &str) -> Result<(), StoreError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        disk::make_private_folder(&home.cache())?;
        disk::write_lightly(&home.cache().join(name), text.as_bytes())
    }
}

/// Forgets what was kept under this name.
pub fn forget(home: &Home, name: &str) -> Result<(), StoreError> {
    disk::remove(&home.cache().join(name))
}

fn is_same((path, before): &Witness) -> bool {
    disk::any_stamp(path) == *before
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use super::*;

    #[test]
    fn what_changes_comes_or_goes_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, none, folder) =
            (dir.path().join("file"), dir.path().join("none"), dir.path().join("folder"));
        std::fs::write(&file, "a").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let seen = || {
            let mut seen = Witnesses::default();
            for path in [&file, &none, &folder] {
                seen.see(path);
            }
            assert!(seen.hold());
            seen
        };

        let first = seen();
        std::fs::write(&file, "longer").unwrap();
        assert!(!first.hold());
        let second = seen();
        std::fs::write(folder.join("inner"), "").unwrap();
        assert!(!second.hold());
        let third = seen();
        std::fs::write(&none, "").unwrap();
        assert!(!third.hold());
        let fourth = seen();
        std::fs::remove_file(&file).unwrap();
        assert!(!fourth.hold());
    }

    #[test]
    fn of_two_looks_the_first_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let mut seen = Witnesses::default();
        std::fs::write(&file, "a").unwrap();
        seen.see(&file);
        std::fs::write(&file, "longer").unwrap();
        seen.see(&file);

        seen.settle();

        assert_eq!(seen.near.len(), 1);
        assert!(!seen.hold());
    }

    #[test]
    fn what_is_far_is_asked_only_by_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("far"), "a").unwrap();
        let mut seen = Witnesses::default();
        seen.see_far(&path("far"));
        std::thread::sleep(std::time::Duration::from_millis(60));
        std::fs::write(path("kept"), "").unwrap();
        let kept = disk::any_stamp(&path("kept")).unwrap();
        assert!(seen.hold_since(kept));

        std::fs::write(path("far"), "longer").unwrap();

        assert!(seen.hold());
        assert!(!seen.hold_since(kept));
    }

    #[test]
    fn what_changed_just_before_it_was_kept_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut seen = Witnesses::default();
        std::fs::write(path("file"), "a").unwrap();
        seen.see(&path("file"));
        std::fs::write(path("kept"), "").unwrap();
        let kept = disk::any_stamp(&path("kept")).unwrap();

        assert!(seen.hold());
        assert!(!seen.hold_since(kept));
    }

    #[test]
    fn what_is_kept_is_read_as_long_as_it_holds() {
        let dir = tempfile::tempdir().unwrap();
        let (home, file) = (Home::at(&dir.path().join("home")), dir.path().join("file"));
        std::fs::write(&file, "a").unwrap();
        let mut kept = Kept { witnesses: Witnesses::default(), found: vec!["a".to_owned()] };
        kept.witnesses.see(&file);
        kept.witnesses.see_far(&dir.path().join("none"));
        std::thread::sleep(std::time::Duration::from_millis(60));
        kept.keep(&home, "kept.json").unwrap();

        assert_eq!(Kept::read(&home, "kept.json"), Some(kept));
        assert_eq!(Kept::<Vec<u64>>::read(&home, "kept.json"), None, "it is something else");
        std::fs::write(&file, "longer").unwrap();
        assert_eq!(Kept::<Vec<String>>::read(&home, "kept.json"), None);
        forget(&home, "kept.json").unwrap();
        forget(&home, "kept.json").unwrap();
        assert!(!home.cache().join("kept.json").exists());
    }
}
