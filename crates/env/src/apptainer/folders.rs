//! Folders of this machine that an instance stands on: what it keeps, and images made from references.

#![expect(clippy::disallowed_methods, reason = "the folders an instance stands on are ours to make")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Makes the folders of an instance, which nobody else can look into.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    // What is mounted needs a folder to be mounted on.
    for part in ["overlay", "home/.hermes", "workspace", "work", "../images"] {
        DirBuilder::new().recursive(true).mode(0o700).create(folder.join(part))?;
    }
    Ok(())
}

/// Removes a folder with everything in it.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder)
}

/// Gives a file its name once it is whole.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Removes a file that is not whole.
pub(super) fn discard(file: &Path) {
    // What cannot be removed is written over next time.
    let _ = fs::remove_file(file);
}

/// The first of these folders that is ours to write to; it is made if it is not there.
pub(super) fn first_usable(folders: Vec<PathBuf>) -> Option<PathBuf> {
    let own = rustix::process::getuid().as_raw();
    folders.into_iter().find(|folder| {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder).is_ok();
        let ours = fs::metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        folder.is_absolute() && made && ours
    })
}

/// Whether everything in a folder takes more room than that. Counting ends with the answer, or when its
/// time is `over`: what could not be counted by then is not known to be too much.
pub(super) fn takes_more(folder: &Path, bytes: u64, over: impl Fn() -> bool) -> bool {
    let (mut taken, mut waiting) = (0_u64, vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        // What another user of the container owns may be closed to us, and what goes meanwhile takes nothing.
        let Ok(inside) = fs::read_dir(&folder) else { continue };
        for entry in inside.flatten() {
            // Of a link it is the link that counts.
            let Ok(meta) = entry.metadata() else { continue };
            taken = taken.saturating_add(meta.blocks().saturating_mul(512));
            if taken > bytes {
                return true;
            }
            if meta.is_dir() {
                waiting.push(entry.path());
            }
        }
        if over() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_is_counted_and_what_a_link_leads_to_is_not() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/small"), vec![1; 200_000]).unwrap();
        fs::write(other.path().join("large"), vec![1; 2_000_000]).unwrap();
        std::os::unix::fs::symlink(other.path(), dir.path().join("a/link")).unwrap();

        assert!(takes_more(dir.path(), 150_000, || false));
        assert!(!takes_more(dir.path(), 1_000_000, || false));
        assert!(!takes_more(dir.path(), 150_000, || true), "its time is over before it comes to the file");
        assert!(!takes_more(&dir.path().join("no"), 0, || false));
    }
}
