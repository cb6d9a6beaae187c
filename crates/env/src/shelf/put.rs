//! A file that takes its place whole.

#![expect(clippy::disallowed_methods, reason = "what lies in folders of ours is ours to write")]

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::process::secret_word;

/// Puts a file where it belongs; folders that are missing are made, for their owner alone.
pub(super) fn put(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let new = parent.join(format!(".{}", secret_word()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&new)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
