//! Which files below a directory are searched.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::thread;

use ignore::{DirEntry, WalkBuilder};

use super::Place;
use super::globs::{Glob, Hidden};

/// No search uses more threads than this.
const MOST_THREADS: usize = 8;

/// Trees that the system makes up; they are walked only when the search starts inside.
const SYSTEM_TREES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// A walk with ripgrep's rules: ignore files are heeded, hidden files and links passed over.
pub(super) fn builder(root: &Path, globs: &[&Glob]) -> WalkBuilder {
    let wanted = globs.iter().map(|glob| glob.spells_out()).max().unwrap_or(Hidden::Nothing);
    let whole_disk = root.parent().is_none();
    let mut builder = WalkBuilder::new(root);
    builder.hidden(wanted == Hidden::Nothing).follow_links(false).threads(threads()).filter_entry(
        move |entry| {
            let system = whole_disk && SYSTEM_TREES.iter().any(|tree| entry.path() == Path::new(tree));
            let inside_git = wanted == Hidden::Names && entry.file_name() == OsStr::new(".git");
            entry.depth() == 0 || !system && !inside_git
        },
    );
    builder
}

/// How many threads a search uses.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// Whether the walk came to a file (and not to a link to one).
pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// What could not be walked, and why.
pub(super) fn explain(error: &ignore::Error, place: &Place) -> (PathBuf, String) {
    match error {
        ignore::Error::WithPath { path, err } => (place.shown(path), explain(err, place).1),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            explain(err, place)
        }
        other => (place.named.clone(), other.to_string()),
    }
}
