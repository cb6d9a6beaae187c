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
