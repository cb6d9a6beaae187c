//! The contract for file access in an environment.
//!
//! A tool never opens a file: it asks for a permit and hands that to the environment's files. The
//! local ones read the disk; a remote environment answers over its own transport. Looking is here;
//! what changes files is in [`change`].

mod change;

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

use crate::permit::{Permit, Read};

pub use change::{Change, Changed, Content, Expect};

/// Files of one environment.
pub trait Files: Send + Sync {
    /// The path with links followed as far as it exists, so that two names of one file are seen as one.
    fn real_path(&self, path: &Path) -> PathBuf;

    /// A page of a text file, or what the file is instead.
    fn page(&self, permit: Permit<Read>, request: PageRequest) -> BoxFuture<'_, Result<FilePage, FileError>>;

    /// Searches below the permitted path.
    fn search(
        &self,
        permit: Permit<Read>,
        query: SearchQuery,
    ) -> BoxFuture<'_, Result<SearchReport, FileError>>;

    /// Everything in a regular file, or an error when that is more than `max_bytes`.
    fn whole(&self, permit: Permit<Read>, max_bytes: u64) -> BoxFuture<'_, Result<WholeFile, FileError>>;

    /// Makes all of these changes or none of them, in order; one answer for each.
    ///
    /// A permit names a path without links in it: should a link stand there by now, nothing is changed.
    fn change(&self, changes: Vec<Change>) -> BoxFuture<'_, Result<Vec<Changed>, FileError>>;
}

/// By what a file is known to be as it was: cheap to ask for, and different after every change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i128,
    /// Which file it is, where the environment can tell.
    pub file: u64,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WholeFile {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// What it was known by when it was read.
    pub stamp: Stamp,
    /// Its permission bits, where there are such.
    pub mode: Option<u32>,
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// First line, counted from 1.
    pub first: u64,
    /// Most lines to return.
    pub count: u64,
    /// Lines longer than this many characters are cut.
    pub max_line_chars: usize,
    /// The page ends at a line boundary before this many characters.
    pub max_chars: usize,
}

/// What was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePage {
    /// Lines of text.
    Text(TextPage),
    /// An image, by its content.
    Image {
        /// Size of the file in bytes.
        file_size: u64,
        /// Media type, for example `image/png`.
        media_type: &'static str,
    },
    /// Something that is not text.
    Binary {
        /// Size of the file in bytes.
        file_size: u64,
    },
}

/// Lines of a text file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextPage {
    /// The lines.
    pub lines: PageLines,
    /// How many lines the file has; a final line without a newline counts, an empty rest does not.
    pub total_lines: u64,
    /// Size of the file in bytes.
    pub file_size: u64,
    /// Why the page ended before the asked-for number of lines and before the end of the file.
    pub ended_by: Option<PageEnd>,
    /// Whether bytes that are not UTF-8 were replaced for display.
    pub lossy: bool,
    /// What the file was known by when it was read.
    pub stamp: Stamp,
}

/// The lines of a page, without their ends, in one piece of memory: a page may have thousands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageLines {
    text: String,
    /// Where in the text each line ends, and how many characters were left out there.
    ends: Vec<(usize, usize)>,
}

/// One line of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLine<'a> {
    /// Its text.
    pub text: &'a str,
    /// How many characters were left out at its end.
    pub cut_chars: usize,
}

impl PageLines {
    /// Adds a line of which this is shown.
    pub fn push(&mut self, text: &str, cut_chars: usize) {
        self.text.push_str(text);
        self.ends.push((self.text.len(), cut_chars));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = PageLine<'_>> {
        let mut from = 0;
        self.ends.iter().map(move |&(end, cut_chars)| {
            let text = self.text.get(from..end).unwrap_or_default();
            from = end;
            PageLine { text, cut_chars }
        })
    }

    /// The text of all of them, one after the other.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What ended a page early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageEnd {
    /// The limit on characters.
    Chars,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// What is looked for.
    pub target: SearchTarget,
    /// Only files whose path below the root matches this glob.
    pub file_glob: Option<String>,
    /// Most results to return.
    pub limit: usize,
    /// Results to pass over first.
    pub offset: usize,
}

/// Text inside files, or the files themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTarget {
    /// A regular expression on lines.
    Content {
        /// The expression.
        pattern: String,
        /// What to report.
        report: ContentReport,
        /// Lines shown before and after a match.
        context: usize,
    },
    /// A glob on file names, newest first.
    Files {
        /// The glob.
        pattern: String,
    },
}

/// What a content search reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentReport {
    /// The matching lines.
    Lines,
    /// The files that have a match.
    FilesOnly,
    /// How many matching lines each file has.
    Count,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchReport {
    /// All there are, also beyond the page: matching lines, or files.
    pub total: u64,
    /// Whether `total` is only what was counted before the search stopped.
    pub total_is_lower_bound: bool,
    /// Matching lines of this page, with context lines between them.
    pub lines: Vec<FoundLine>,
    /// Files of this page, with the number of matching lines where that was asked for.
    pub files: Vec<(PathBuf, u64)>,
    /// Why not everything is on this page.
    pub stopped: Option<SearchStop>,
    /// Files that could not be read, with the reason (at most a few).
    pub unreadable: Vec<(PathBuf, String)>,
}

/// A line of a search report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The file, relative to the searched root (or the root itself when it is a file).
    pub path: PathBuf,
    /// Line number, counted from 1.
    pub number: u64,
    /// Text of the line, cut when very long.
    pub text: String,
    /// Whether the line itself matched, or is context.
    pub matched: bool,
}

/// Why a search report is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStop {
    /// More results follow; ask with a larger offset.
    Limit,
    /// It took too long.
    Time,
    /// It was cancelled.
    Cancelled,
}

/// Why a file could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Nothing is there.
    #[error("no such file: {}", path.display())]
    Missing {
        /// What was asked for.
        path: PathBuf,
        /// Names nearby that look like it.
        similar: Vec<String>,
    },
    /// It is a directory.
    #[error("{} is a directory, not a file", .0.display())]
    IsDirectory(PathBuf),
    /// A device, pipe or socket: reading it could block for ever.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// The system said no.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// What was asked for.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The system would not let it be changed.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// What was to be written.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// There is more in it than was asked for.
    #[error("{} has {size} bytes; at most {limit} can be worked on", path.display())]
    TooLarge {
        /// What was asked for.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most that was wanted.
        limit: u64,
    },
    /// Something is there that must not be overwritten.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// Somebody else changed it between looking and writing.
    #[error("{} was changed by something else in the meantime; read it again", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// A later change failed, and an earlier one could not be taken back.
    #[error("{cause}; these could not be put back as they were: {}", left.join(", "))]
    HalfDone {
        /// What failed.
        cause: Box<FileError>,
        /// What is changed all the same, with the reason.
        left: Vec<String>,
    },
    /// The pattern or glob is not one.
    #[error("bad pattern: {0}")]
    Pattern(String),
    /// The worker was lost.
    #[error("{0}")]
    Lost(#[from] crate::host::WorkerLost),
}
