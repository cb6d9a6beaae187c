//! Folders of this machine that outlive a container.

#![expect(clippy::disallowed_methods, reason = "the folders a container keeps its files in are ours to make")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes a folder, with those above it, that nobody else can look into.
pub(super) fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a folder with everything in it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}
