//! Searching below a path: text in files, or the files themselves.
//!
//! Runs in this process on the engine of ripgrep and with its manners: what version control
//! ignores, hidden files and binary files are left out, links are not followed.

mod content;
mod excerpt;
mod globs;
mod hits;
mod names;
mod pattern;
mod queue;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use hermes_core::files::{FileError, SearchQuery, SearchReport, SearchTarget};

use super::open;
use super::stop::Stop;

/// Most results on one page, whatever was asked for.
const MOST_RESULTS: usize = 10_000;

/// Files that could not be read: how many are named.
const MOST_UNREADABLE: usize = 10;

/// Searches the file or directory `root`.
///
/// Results are ordered by path and line, files by time of change, and a page is the same whatever
/// ran first. `total` counts matching lines for lines and counts, and files otherwise.
pub(crate) fn search(root: &Path, query: &SearchQuery, stop: &Stop) -> Result<SearchReport, FileError> {
    let place = Place::at(root)?;
    let page = Page { offset: query.offset, limit: query.limit.min(MOST_RESULTS) };
    let globs = |pattern: &str| globs::Glob::new(pattern, root);
    let file_glob = query.file_glob.as_deref().map(globs).transpose()?;
    match &query.target {
        SearchTarget::Content { pattern, report, context } => {
            let matcher = pattern::compile(pattern)?;
            let job = content::Job { place: &place, matcher, report: *report, context: *context, page, stop };
            job.run(file_glob.as_ref())
        }
        SearchTarget::Files { pattern } => {
            let job = names::Job { place: &place, glob: globs(pattern)?, file_glob, page, stop };
            Ok(job.run())
        }
    }
}

/// A line as it is shown in results.
pub(super) fn excerpt_of(line: &[u8]) -> String {
    excerpt::excerpt(line, 0)
}

/// Says what is wrong with an expression, if something is.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), FileError> {
    pattern::compile(pattern).map(drop)
}

/// A glob on files below a root.
pub(crate) struct Meant(globs::Glob);

impl Meant {
    /// Understands what [`globs::Glob`] does.
    pub(crate) fn new(glob: &str, root: &Path) -> Result<Self, FileError> {
        globs::Glob::new(glob, root).map(Self)
    }

    /// Whether a file with this path below the root is meant.
    pub(crate) fn matches(&self, below: &Path) -> bool {
        self.0.matches(below)
    }
}

/// What is searched.
struct Place {
    /// As it was asked for.
    named: PathBuf,
    /// With links followed, so that the walk starts in the right place.
    real: PathBuf,
    is_file: bool,
}

impl Place {
    fn at(root: &Path) -> Result<Self, FileError> {
        open::refuse_special(root)?;
        let explain = |error| open::explain(root, &error);
        let metadata = fs::metadata(root).map_err(explain)?;
        if !metadata.is_dir() && !metadata.is_file() {
            return Err(FileError::NotRegular(root.to_path_buf()));
        }
        let real = fs::canonicalize(root).map_err(explain)?;
        Ok(Self { named: root.to_path_buf(), real, is_file: metadata.is_file() })
    }

    /// How a found path is reported.
    fn shown(&self, found: &Path) -> PathBuf {
        if self.is_file {
            return self.named.clone();
        }
        found.strip_prefix(&self.real).unwrap_or(found).to_path_buf()
    }
}

/// Which results are wanted.
#[derive(Clone, Copy)]
struct Page {
    offset: usize,
    limit: usize,
}

impl Page {
    /// Results up to the end of the page.
    fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

/// Sorts the unreadable and keeps a few.
fn few(mut unreadable: Vec<(PathBuf, String)>) -> Vec<(PathBuf, String)> {
    unreadable.sort();
    unreadable.truncate(MOST_UNREADABLE);
    unreadable
}

/// Why a file could not be read, without its name.
fn reason(error: FileError) -> String {
    match error {
        FileError::Unreadable { reason, .. } => reason,
        FileError::NotRegular(_) => "not a regular file".to_owned(),
        other => other.to_string(),
    }
}

fn len(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
