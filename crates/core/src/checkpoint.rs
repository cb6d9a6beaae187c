//! The contract for keeping what files held before a call changed them.
//!
//! The road's side of file access asks here before every change, whatever environment the file is
//! in, so that a tool cannot forget it. What is kept, where and for how long is the keeper's.

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

/// Keeps old content.
pub trait Checkpoints: Send + Sync {
    /// Whether nothing is kept of this path yet for this moment.
    fn wants(&self, moment: &Moment<'_>, path: &Path) -> bool;

    /// The largest file that is kept, in bytes.
    fn max_bytes(&self) -> u64;

    /// Keeps these; what comes back is why that failed, in words.
    fn keep<'a>(&'a self, moment: Moment<'a>, files: Vec<Before>) -> BoxFuture<'a, Result<(), String>>;
}

/// When and for whom something is kept: one turn of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment<'a> {
    /// The session that changes files.
    pub session: &'a str,
    /// Which turn of it, counted from 0.
    pub turn: u64,
    /// Where the session began: a command that changes the directory does not change this.
    pub cwd: &'a Path,
    /// The tool that is about to change them.
    pub tool: &'a str,
}

/// Something a command is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endangered {
    /// It goes, or is changed where it is: a file, or a folder with everything in it.
    Changed(PathBuf),
    /// A file is written here, whether there was one or not.
    Written(PathBuf),
}

/// A file before it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Where it is, without links.
    pub path: PathBuf,
    /// What was there.
    pub state: State,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// What it held.
        bytes: Vec<u8>,
        /// Its permission bits, where there are such.
        mode: Option<u32>,
    },
}
