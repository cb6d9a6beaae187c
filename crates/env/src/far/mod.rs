//! Far environments: those whose files and processes are not this machine's.
//!
//! A backend of this kind implements [`Reach`]: how to make the place ready, how to start a program
//! there, how to let go of it. Everything else is the same for all of them and is here, on nothing but
//! a POSIX shell at the other end:
//!
//! | file | what |
//! |---|---|
//! | `client.rs` | programs of this machine that reach the place: `docker`, `ssh`, … |
//! | `scripts.rs` | what runs over there, around commands |
//! | `filter.rs` | tells what a command writes from what is said about it |
//! | `process.rs` | a process over there |
//! | `lane.rs` | shells over there that run one command after the other |
//! | `jobs/` | commands that go on over there in the background |
//! | `facts.rs` | what there is over there |
//! | `talk.rs` | a program over there that is run for something of our own |
//! | `idle.rs` | notices when nobody has used a place for a while |
//! | `claims.rs` | which programs of this home use a place at this moment |
//! | `place.rs` | a place in use: opening, idling, closing |
//! | `sharing.rs` | the same for a place that several programs use at once |
//! | `commands.rs` | commands, and what their shell leaves for the next |
//! | `calling.rs` | programs that call back |
//! | `files.rs`, `change.rs`, `search.rs` | files over there |
//! | `settings.rs` | what the settings of far places have in common |
//! | `giving.rs` | files of this machine that the place is given |
//! | `progress.rs` | tells those who wait for a place what takes so long |
//!
//! A program is told to begin only after it has said that it is there. Until then nothing has
//! happened, so a start that got lost on the way (the container was removed, the connection was cut)
//! is made again without asking anybody; later it never is.

mod calling;
mod change;
mod claims;
pub(crate) mod client;
mod commands;
mod facts;
mod files;
mod filter;
mod giving;
mod idle;
mod jobs;
mod lane;
mod place;
mod process;
pub(crate) mod progress;
pub(crate) mod quote;
mod scripts;
mod search;
pub(crate) mod settings;
mod sharing;
mod talk;

use std::ffi::OsString;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Input, Output, Process, Streams};

pub(crate) use claims::Claims;
pub(crate) use place::Far;
pub use place::FarSettings;

/// A place that programs can be started in. What a backend of this kind implements.
pub(crate) trait Reach: Send + Sync + 'static {
    /// Makes sure that it is there: creates it, starts it, connects to it. It is called before the
    /// first program, and again after one that did not arrive; what is there already is looked at anew.
    fn ready(&self) -> BoxFuture<'_, Result<Ready, EnvError>>;

    /// Starts a program there, connected as asked. Nothing is interpreted on the way: the words arrive
    /// as they are. Where a terminal is asked for, the program gets one there.
    fn start(&self, call: Call) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>>;

    /// Lets go of it.
    fn close(&self, how: Close) -> BoxFuture<'_, Result<(), EnvError>>;

    /// Program and arguments of this machine that give a person a shell there; it is ready by then.
    fn shell(&self) -> Option<Vec<OsString>>;

    /// Whether the input of a program there ends when we are gone, so that one can wait for that.
    fn hears_our_end(&self) -> bool {
        true
    }

    /// What of it other programs of this home use at the same time; nothing where each has its own.
    fn claims(&self) -> Option<Claims> {
        None
    }

    /// Whether it mounts the mirror of what places are given.
    fn mounts(&self) -> bool {
        false
    }

    /// What it mounted turned out to be somebody else's: it mounts nothing from now on.
    fn mount_nothing(&self) {}
}

/// What was found when a place was made ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ready {
    /// Changes when the place was made anew, so that nothing of the old one is there any more.
    pub(crate) identity: String,
    /// What is worth telling, in words.
    pub(crate) notes: Vec<String>,
}

/// A program to be started there.
pub(crate) struct Call {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// What it reads.
    pub(crate) input: Input,
    /// Where what it writes goes.
    pub(crate) streams: Streams,
    /// Told about every byte it writes, in order.
    pub(crate) output: Arc<dyn Output>,
}

/// How a place is let go of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    /// Nobody used it for a while: what it costs is given back, what it holds stays.
    Idle,
    /// We end: as the settings say.
    Leave,
    /// Other programs of this home go on using it: only what is ours of it goes.
    Others,
    /// The person wants it gone, with everything in it.
    Remove,
}
