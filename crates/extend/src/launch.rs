//! Starting the programs that foreign tools live in. The composition root brings the launcher; this
//! crate never starts a process by itself.

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;

/// What is to be started, and who agreed to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A name on the search path, or a path.
    pub program: String,
    /// Its arguments. One that is part of this program is not copied for everybody who may start it.
    pub arguments: Vec<Cow<'static, str>>,
    /// Variables beyond the few that every foreign program gets (`PATH`, `HOME`, `LANG`, …).
    pub variables: Vec<(String, String)>,
    /// Where it starts.
    pub directory: Option<PathBuf>,
    /// Why it may run.
    pub consent: Consent,
}

/// Why a foreign program may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// The person's own configuration names it, under this key.
    Configured(String),
    /// It lies in the person's own Hermes home, in this folder.
    Home(PathBuf),
    /// A person accepted exactly this content.
    Accepted {
        /// What was accepted.
        what: String,
        /// Digest of its content.
        digest: String,
    },
}

/// Starts programs.
pub trait Launch: Send + Sync {
    /// Starts one. It ends with us, however we end.
    fn launch(&self, program: &Program) -> Result<Launched, LaunchError>;
}

/// A running program: our ends of its pipes, none of which block.
pub struct Launched {
    /// What it reads.
    pub input: OwnedFd,
    /// What it says.
    pub output: OwnedFd,
    /// What it complains about.
    pub errors: OwnedFd,
    /// Its life.
    pub keeper: Box<dyn Keeper>,
}

/// Holds a program alive; dropping it stops the program and everything it started.
pub trait Keeper: Send + Sync {
    /// Its process number.
    fn pid(&self) -> u32;

    /// Waits until it has ended; in words how it did.
    fn ended(&self) -> BoxFuture<'static, String>;

    /// Stops it: by asking, after `grace` by force.
    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()>;
}

/// A program could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot start `{program}`: {why}")]
pub struct LaunchError {
    /// Which one.
    pub program: String,
    /// Why.
    pub why: String,
}
