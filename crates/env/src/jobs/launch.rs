//! What is written down about a job: how to start it, what it is, how it ended.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use hermes_core::jobs::{Happening, JobState};
use serde::{Deserialize, Serialize};

/// File with the [`Record`].
pub(crate) const RECORD: &str = "record.json";

/// File with the [`Finish`].
pub(crate) const FINISH: &str = "finish.json";

/// File with what has been [`Told`].
pub(crate) const TOLD: &str = "told.json";

/// Everything a keeper needs. It is handed over through a pipe and never lies on a disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) folder: PathBuf,
    pub(crate) shell: PathBuf,
    /// Program and first words that put up a fence around what follows them.
    pub(crate) fence: Option<(PathBuf, Vec<Vec<u8>>)>,
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) variables: Vec<(Vec<u8>, Vec<u8>)>,
    /// Functions and aliases of the session.
    pub(crate) rest: Vec<u8>,
    /// The mark every process of the job carries.
    pub(crate) mark: String,
    /// Rows and columns of its terminal, if it gets one.
    pub(crate) terminal: Option<(u16, u16)>,
    pub(crate) watch: Vec<String>,
    pub(crate) notify: bool,
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) owner: Identity,
    /// Seconds since 1970.
    pub(crate) started_at: u64,
}

/// A process, named for ever: numbers are used again, start times are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) pid: i32,
    pub(crate) started: u64,
}

/// What is known about a job while it runs and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) pid: u32,
    pub(crate) mark: String,
    pub(crate) terminal: bool,
    pub(crate) watch: Vec<String>,
    pub(crate) notify: bool,
    pub(crate) started_at: u64,
    /// Who looks after it.
    pub(crate) keeper: Identity,
    /// Who started it.
    pub(crate) owner: Identity,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finish {
    pub(crate) state: JobState,
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// Whether something that was watched for was seen.
    pub(crate) watch_hit: bool,
    /// The last things that were seen, whether somebody has heard of them or not.
    pub(crate) seen: Vec<Numbered>,
}

/// Something that happened, and its place in the row of all that did; the first has number 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) what: Happening,
}

/// How much of what happened somebody has taken note of. What was only on its way to somebody who
/// is gone by now is not among it, and is told again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The number of the last happening.
    pub(crate) number: u64,
    /// Whether the end is told as well.
    pub(crate) end: bool,
}

/// What a keeper says once it has started the job, or could not.
#[derive(Serialize, Deserialize)]
pub(crate) enum Started {
    Yes(Record),
    No(String),
}

/// Variables as they can be written down.
pub(crate) fn to_bytes(variables: Vec<(OsString, OsString)>) -> Vec<(Vec<u8>, Vec<u8>)> {
    variables.into_iter().map(|(name, value)| (name.into_vec(), value.as_bytes().to_vec())).collect()
}
