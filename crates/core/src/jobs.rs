//! The contract for background jobs: commands that go on after the call that started them.
//!
//! A job belongs to a session, has an id, a log and an end. It outlives the program that started
//! it where the environment can arrange that, and is found again by its id.

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::environment::{EnvError, ShellState, Size};
use crate::permit::{Exec, Permit};

/// The background jobs of one place.
pub trait Jobs: Send + Sync {
    /// Starts a job.
    fn start(&self, permit: Permit<Exec>, job: NewJob) -> BoxFuture<'_, Result<Job, EnvError>>;

    /// The jobs of a session and those that belong to none, oldest first.
    fn list<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Vec<Job>, EnvError>>;

    /// One job, as it is now.
    fn look<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>>;

    /// The last bytes of its log.
    fn tail<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        bytes: usize,
    ) -> BoxFuture<'a, Result<Vec<u8>, EnvError>>;

    /// Lines of its log.
    fn log<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        page: LogPage,
    ) -> BoxFuture<'a, Result<LogLines, EnvError>>;

    /// Waits until it ends, for at most that long. A caller that stops waiting leaves it alone.
    fn wait<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Job, EnvError>>;

    /// Stops it with everything it started.
    fn kill<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>>;

    /// Writes to its input, or ends it.
    fn write<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        input: JobInput,
    ) -> BoxFuture<'a, Result<(), EnvError>>;

    /// What happened since this was last asked, for the sessions that asked to be told.
    fn notices(&self) -> Vec<Notice>;

    /// Ends when there may be notices to take.
    fn noticed(&self) -> BoxFuture<'_, ()>;
}

/// A job to start.
pub struct NewJob {
    /// The session it belongs to.
    pub session: String,
    /// What the session's shell knew.
    pub shell: ShellState,
    /// Whether it gets a terminal.
    pub terminal: Option<Size>,
    /// Tell the session when it ends.
    pub notify: bool,
    /// Tell the session when a line of its output holds one of these.
    pub watch: Vec<String>,
}

/// A job as it is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// The session it belongs to.
    pub session: String,
    /// The exact text it runs.
    pub command: String,
    /// Where it was started.
    pub cwd: PathBuf,
    /// Its process number.
    pub pid: u32,
    /// When it was started, in seconds since 1970.
    pub started_at: u64,
    /// How long it has run, or ran.
    pub ran_for: Duration,
    /// How it stands.
    pub state: JobState,
    /// Whether it was started by an earlier run of the program.
    pub found_again: bool,
    /// Whether its end is told.
    pub notify: bool,
    /// What is watched for.
    pub watch: Vec<String>,
    /// Whether one of these was seen.
    pub watch_hit: bool,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It runs.
    Running,
    /// It ended with this code.
    Exited(i32),
    /// It was stopped on request.
    Killed(i32),
    /// It is gone, and nobody saw it end.
    Lost,
}

impl JobState {
    /// Whether it is over.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }

    /// The code it ended with, as far as it is known.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) | Self::Killed(code) => Some(code),
            Self::Running | Self::Lost => None,
        }
    }
}

/// Which lines of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPage {
    /// The first line, counted from 0; the last `lines` when there is none.
    pub from: Option<u64>,
    /// Most lines.
    pub lines: usize,
    /// Most bytes.
    pub bytes: usize,
}

/// Lines of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogLines {
    /// The text.
    pub text: Vec<u8>,
    /// Number of its first line, counted from 0.
    pub first: u64,
    /// How many lines it has.
    pub count: u64,
    /// How many lines the job has written.
    pub total: u64,
    /// Lines that are no longer in the log, because it grew too long; they lie after its beginning.
    pub dropped: u64,
    /// Where the log is.
    pub path: PathBuf,
}

/// What to do with a job's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobInput {
    /// Write this.
    Bytes(Vec<u8>),
    /// There is no more.
    End,
}

/// Something a session wanted to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The session.
    pub session: String,
    /// The job.
    pub job: String,
    /// Its command.
    pub command: String,
    /// What happened.
    pub what: Happening,
}

/// What happened to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// It ended.
    Ended {
        /// How.
        state: JobState,
        /// The last of its output.
        output: String,
    },
    /// Lines that were watched for.
    Seen {
        /// The lines.
        lines: String,
        /// How many more there were that are not shown.
        suppressed: u64,
    },
    /// There were too many of them, so nobody looks any more.
    WatchEnded,
}

/// Where jobs are kept: one private folder each, found again by later runs of the program.
pub trait JobFolders: Send + Sync {
    /// Makes the folder of a new job.
    fn make(&self, id: &str) -> Result<PathBuf, String>;

    /// All jobs that have one, by id.
    fn all(&self) -> Vec<(String, PathBuf)>;

    /// Removes the folder of a job with everything in it.
    fn remove(&self, id: &str);
}
