//! What an environment starts: how it is connected, and how it ends.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use super::EnvError;
use crate::permit::{Exec, Permit};

/// A place where processes can be started. One per backend, already open.
pub trait Environment: Send + Sync {
    /// Its name in effects and settings (`local`, `docker`, …).
    fn name(&self) -> &str;

    /// Whether a file of this machine is the same file there.
    fn shares_files(&self) -> bool {
        false
    }

    /// A mark for something of this machine that must not outlive us, where there is such a thing.
    fn mark(&self) -> Option<String> {
        None
    }

    /// Whether what is started here can be given a [`Line`].
    fn has_lines(&self) -> bool {
        false
    }

    /// Starts the permitted command.
    fn spawn(&self, permit: Permit<Exec>, start: Start) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>>;
}

/// How a permitted command is started.
pub struct Start {
    /// Script of the shell; it finds `arguments` as `$1`, `$2`, … and the permitted text after them.
    pub script: &'static str,
    /// Arguments of the script.
    pub arguments: Vec<String>,
    /// What it reads.
    pub input: Input,
    /// Where what it writes goes.
    pub streams: Streams,
    /// Its variables.
    pub variables: Variables,
    /// Whether it gets a [`Line`] to us; how to reach it is told in [`LINE`].
    pub line: bool,
    /// Told about every byte it writes, in order.
    pub output: Arc<dyn Output>,
}

/// The variable that tells a process how to reach its line: `fd:N` is an open descriptor on which
/// every message is one line, both ways.
pub const LINE: &str = "HERMES_TOOLS_LINE";

/// A private line to a running process: whole messages, both ways, of which none holds a line end.
pub trait Line: Send + Sync {
    /// The next message; nothing when no more can come. No more come either while
    /// [`MOST_UNANSWERED`] wait for their answer.
    fn next(&self) -> BoxFuture<'_, Option<Vec<u8>>>;

    /// Answers a message. An answer to a process that does not listen is lost.
    fn answer(&self, message: Vec<u8>);
}

/// Messages of one line that may wait for their answer at the same time.
pub const MOST_UNANSWERED: usize = 8;

/// Variables of a process. A backend may add marks of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variables {
    /// Those every child gets, and these.
    UsualAnd(Vec<(OsString, OsString)>),
    /// These and no others.
    Only(Vec<(OsString, OsString)>),
}

/// What a process reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Nothing: it is at its end from the start.
    Empty,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is written while it runs, until it is closed.
    Open,
}

/// How a process is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Both outputs in one pipe, in the order they were written.
    Merged,
    /// Each output in its own pipe.
    Separate,
    /// A terminal of this size.
    Terminal(Size),
}

/// Size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

impl Size {
    /// The size programs get when nobody says otherwise.
    pub const USUAL: Self = Self { rows: 30, columns: 120 };
}

/// Takes what a process writes. It is called from one thread at a time per process, and may take
/// its time: the process waits.
pub trait Output: Send + Sync {
    /// The next bytes.
    fn take(&self, from: Stream, bytes: &[u8]);
}

/// Which output bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, or both when they are merged.
    Out,
    /// Standard error.
    Err,
}

/// A process that was started. Dropping it kills it with everything it started.
pub trait Process: Send + Sync {
    /// Its number in the environment, if it has one.
    fn pid(&self) -> Option<u32>;

    /// Ends when the process has ended and its output was delivered. A child that still holds the
    /// output open is not waited for.
    fn ended(&mut self) -> BoxFuture<'_, Result<End, EnvError>>;

    /// Asks the process and everything it started to stop; what is left after `grace` is killed.
    /// Ends when nothing of it runs any more.
    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()>;

    /// Writes to its input, as soon as it is read.
    fn write(&self, bytes: Vec<u8>) -> Result<(), EnvError>;

    /// Ends its input.
    fn close_input(&self);

    /// Changes the size of its terminal, if it has one.
    fn resize(&self, size: Size);

    /// Our end of its line, if it was started with one. It is there once.
    fn line(&mut self) -> Option<Box<dyn Line>> {
        None
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl End {
    /// The code a shell would report.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}
