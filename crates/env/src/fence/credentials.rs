//! Finds what must not be read: asks about every entry of some folders.
//!
//! Who decides is handed in, so that the fence and the policy for files never disagree.

#![expect(clippy::disallowed_methods, reason = "what lies in the folders is known only to the disk")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Stands for any file of a folder.
const ANY: &str = "any-file";

/// Most entries of one folder that are asked about.
const ENTRIES: usize = 5000;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Files and folders that must not be read.
    pub unreadable: Vec<PathBuf>,
    /// Files in such folders that may be read nevertheless.
    pub readable: Vec<PathBuf>,
}

/// Asks about each entry of `folders`. A folder is unreadable when an ordinary file in it would be.
///
/// Left out is what this user cannot read anyway and cannot change that either.
pub fn kept_from(folders: &[PathBuf], may_read: &dyn Fn(&Path) -> bool) -> Kept {
    let mut kept = Kept::default();
    for path in folders.iter().flat_map(|folder| entries(folder)) {
        let Ok(found) = path.metadata() else { continue };
        let is_kept = if found.is_dir() { !may_read(&path.join(ANY)) } else { !may_read(&path) };
        if !is_kept || out_of_reach(&path, found.uid()) {
            continue;
        }
        if found.is_dir() {
            let plain = |file: &PathBuf| file.symlink_metadata().is_ok_and(|found| found.is_file());
            kept.readable.extend(entries(&path).filter(|file| plain(file) && may_read(file)));
        }
        kept.unreadable.push(path);
    }
    kept.unreadable.sort();
    kept.readable.sort();
    kept
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.take(ENTRIES).map(|entry| entry.path())
}

fn out_of_reach(path: &Path, owner: u32) -> bool {
    let me = rustix::process::geteuid().as_raw();
    owner != me && rustix::fs::access(path, rustix::fs::Access::READ_OK).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_kept_whole_but_for_what_may_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in [".ssh", "project", "empty"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for file in [".ssh/id", ".ssh/config", ".netrc", "project/id", "notes"] {
            fs::write(at(file), "").unwrap();
        }
        let may_read = |path: &Path| {
            let inside = path.strip_prefix(dir.path()).unwrap();
            !(inside.starts_with(".ssh") && !inside.ends_with("config") || inside.ends_with(".netrc"))
        };

        let kept = kept_from(&[dir.path().to_owned(), at("none")], &may_read);

        let wanted = Kept { unreadable: vec![at(".netrc"), at(".ssh")], readable: vec![at(".ssh/config")] };
        assert_eq!(kept, wanted);
    }
}
