//! The contract for places where commands run.
//!
//! Two layers meet here. A backend implements [`Environment`]: it knows how to start something
//! there, and nothing else. The layer above it, shared by all backends, implements [`Workplace`]:
//! limits, killing, output, directories and shell state, background jobs. Tools see only that one.
//!
//! | file | what |
//! |---|---|
//! | `process.rs` | what a backend starts: how it is connected, and how it ends |
//! | `place.rs` | a place to work in |
//! | `sites.rs` | the places of a runtime by name |
//!
//! Starting takes a [`Permit<Exec>`](crate::permit::Permit), and what runs is the text in the permit.
//! There is no other way to start anything.

mod place;
mod process;
mod sites;

use std::path::PathBuf;

use crate::host::WorkerLost;

pub use place::{
    Desk, Held, Kept, Overflow, OverflowFile, Ran, Run, Screen, Script, ScriptRan, ShellState, Stands, Tell,
    Way, Why, Workplace,
};
pub use process::{
    End, Environment, Input, LINE, Line, MOST_UNANSWERED, Output, Process, Size, Start, Stream, Streams,
    Variables,
};
pub use sites::{ARGUMENT, About, Chosen, DEFAULT, Environments, Shells, Site, Standing, There};

/// Why something could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// There is no such environment.
    #[error("there is no environment `{0}` to run commands in")]
    Unknown(String),
    /// The program could not be started.
    #[error("cannot start {what}: {why}")]
    Start {
        /// What should have been started.
        what: String,
        /// The system's words.
        why: String,
    },
    /// The directory is not there, or is not one.
    #[error("cannot run in {}: {why}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
    /// Nothing that calls back can be run there.
    #[error("this environment cannot run scripts that call tools yet")]
    NoScripts,
    /// A program that is needed is not there.
    #[error("{environment} has no {program}: install it there, or use another environment")]
    NoProgram {
        /// The environment.
        environment: String,
        /// What is missing.
        program: String,
    },
    /// A person cannot be given a shell there.
    #[error("this environment has no shell for people")]
    NoShell,
    /// The environment is not there, or cannot be reached.
    #[error("{environment}: {why}")]
    Unreachable {
        /// Its name.
        environment: String,
        /// What its client says, and what can be done.
        why: String,
    },
    /// It was cut off while a command ran there; whether it went on is not known.
    #[error(
        "{environment}: the connection was lost while the command ran; it may have had some of its effects ({why})"
    )]
    CutOff {
        /// Its name.
        environment: String,
        /// What is known.
        why: String,
        /// What the command had written by then.
        output: Box<Kept>,
    },
    /// Its settings make no sense.
    #[error("the settings of {environment} are wrong: {why}")]
    Settings {
        /// Its name.
        environment: String,
        /// What is wrong, and where.
        why: String,
    },
    /// Its input cannot be written to.
    #[error("cannot write to the process: {0}")]
    Input(String),
    /// No such background job.
    #[error("no background process `{0}`")]
    NoJob(String),
    /// As many background jobs run as are allowed.
    #[error("{0} background processes are running, which is the most; end one first")]
    TooManyJobs(usize),
    /// A file of the environment's own could not be used.
    #[error("{doing}: {why}")]
    Files {
        /// What was tried.
        doing: String,
        /// The system's words.
        why: String,
    },
    /// The worker was lost.
    #[error("{0}")]
    Lost(#[from] WorkerLost),
}
