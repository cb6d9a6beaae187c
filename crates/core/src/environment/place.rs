//! A place to work in, as tools see it: commands, programs that call back, and what is kept of what
//! they write.

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{End, EnvError, Output, Process, Size};
use crate::jobs::Jobs;
use crate::permit::{Exec, Permit};

/// A place to work in, as tools see it.
pub trait Workplace: Send + Sync {
    /// Runs a command to its end, or to its limit.
    fn run(&self, permit: Permit<Exec>, run: Run) -> BoxFuture<'_, Result<Ran, EnvError>>;

    /// Runs a program that calls back, to its end or to its limit.
    fn run_script(&self, _: Permit<Exec>, _: Script) -> BoxFuture<'_, Result<ScriptRan, EnvError>> {
        Box::pin(std::future::ready(Err(EnvError::NoScripts)))
    }

    /// The background jobs of this place, where it can have any.
    fn jobs(&self) -> Option<&dyn Jobs>;

    /// Whether it has been opened and not closed since.
    fn is_open(&self) -> bool {
        false
    }

    /// The home there, once that is known; nothing on this machine.
    fn home(&self) -> Option<PathBuf> {
        None
    }

    /// Opens it and says what was found there, for people.
    fn look(&self) -> BoxFuture<'_, Result<String, EnvError>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }

    /// Stops it; the next command opens it again. `everything`: also what is kept for later runs.
    fn close(&self, everything: bool) -> BoxFuture<'_, Result<(), EnvError>> {
        let _ = everything;
        Box::pin(std::future::ready(Ok(())))
    }

    /// A shell there for a person who sits at this screen.
    fn shell(&self, _: Screen) -> BoxFuture<'_, Result<Way, EnvError>> {
        Box::pin(std::future::ready(Err(EnvError::NoShell)))
    }

    /// Tells what takes a while before anything can begin there, such as an image that is fetched, until
    /// what is returned is dropped. Nothing where nothing takes long.
    fn listen(&self, _: Tell) -> Option<Held> {
        None
    }
}

/// Is told something in a few words that may come from a stranger.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Something that lasts for as long as this is held.
pub type Held = Box<dyn Any + Send + Sync>;

/// Where a person sits.
pub struct Screen {
    /// How large it is.
    pub size: Size,
    /// Shows what comes.
    pub output: Arc<dyn Output>,
}

/// How a person gets into a place. It stays open while what comes with the way is held.
pub enum Way {
    /// By a program of this machine with these words, which takes over the terminal.
    Program(Vec<OsString>, Held),
    /// By a process there that shows itself on the screen and reads what is typed.
    Talk(Box<dyn Process>, Held),
}

/// Answers what a running program asks.
pub trait Desk: Send + Sync {
    /// The answer to one message. It is asked again before it has answered, up to
    /// [`MOST_UNANSWERED`](super::MOST_UNANSWERED) times at once, and wants to be quick when `over` fires.
    fn answer<'a>(&'a self, message: Vec<u8>, over: &'a CancellationToken) -> BoxFuture<'a, Vec<u8>>;
}

/// How a program that calls back is run. What it started ends with it.
pub struct Script {
    /// The session it belongs to.
    pub session: String,
    /// What the session's shell knew before.
    pub shell: ShellState,
    /// A file that is put into a folder of its own before the program starts: name and content.
    pub module: (&'static str, String),
    /// The variable that gets that folder in front of what it holds.
    pub module_path: &'static str,
    /// A program that must be there, or nothing is run.
    pub needs: Option<String>,
    /// More variables.
    pub variables: Vec<(OsString, OsString)>,
    /// Where it stands.
    pub stands: Stands,
    /// It is stopped after this time.
    pub timeout: Duration,
    /// Most memory each of its processes may ask for, in bytes.
    pub memory: Option<u64>,
    /// Most bytes kept of what it writes, of standard output and of standard error.
    pub keep: (usize, usize),
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
    /// Answers what it asks.
    pub desk: Arc<dyn Desk>,
}

/// Where a script stands while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// In the permit's directory, with the Python environment that belongs to it.
    InProject,
    /// In an empty folder that goes with it.
    Apart,
}

/// A script that was run.
#[derive(Debug)]
pub struct ScriptRan {
    /// Why it ended.
    pub why: Why,
    /// What it wrote to standard output.
    pub out: Kept,
    /// What it wrote to standard error.
    pub err: Kept,
    /// How long it ran.
    pub took: Duration,
    /// What else there is to tell, in words.
    pub notes: Vec<String>,
}

/// How a command is run in the foreground.
pub struct Run {
    /// The session it belongs to.
    pub session: String,
    /// What the session's shell knew before.
    pub shell: ShellState,
    /// What it reads.
    pub input: Vec<u8>,
    /// Whether it gets a terminal.
    pub terminal: Option<Size>,
    /// It is stopped after this time.
    pub timeout: Duration,
    /// Most bytes of output kept for the answer; all of it goes to a file when there is more.
    pub keep: usize,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

/// A command that was run.
#[derive(Debug)]
pub struct Ran {
    /// Why it ended.
    pub why: Why,
    /// What it wrote.
    pub output: Kept,
    /// Where the shell stood at the end, when it got to say so.
    pub cwd: Option<PathBuf>,
    /// What the session's shell knows now.
    pub shell: ShellState,
    /// What else there is to tell, in words.
    pub notes: Vec<String>,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It ended by itself.
    Ended(End),
    /// Its time was over.
    TimedOut(Duration),
    /// It was taken back.
    Cancelled,
}

/// Output of a command, whole or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// The beginning, or everything.
    pub head: Vec<u8>,
    /// The end, when something between was left out.
    pub tail: Vec<u8>,
    /// All bytes that were written.
    pub total: u64,
    /// Where the whole output is, when not all of it is here.
    pub saved_to: Option<PathBuf>,
    /// How many bytes are in that file.
    pub saved: u64,
}

impl Kept {
    /// Bytes between head and tail that are not here.
    pub fn left_out(&self) -> u64 {
        let here = self.head.len() + self.tail.len();
        self.total.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX))
    }
}

/// What a session's shell remembers between commands. Only the workplace that made it can look inside.
#[derive(Clone, Default)]
pub struct ShellState {
    known: Option<Arc<dyn Any + Send + Sync>>,
    passed: BTreeSet<String>,
}

impl ShellState {
    /// Wraps what a workplace wants to find again.
    pub fn new(state: Arc<dyn Any + Send + Sync>) -> Self {
        Self { known: Some(state), passed: BTreeSet::new() }
    }

    /// What was wrapped, if it is of this type.
    pub fn find<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.known.as_ref()?).downcast().ok()
    }

    /// The same, for commands that are to have these variables too.
    #[must_use]
    pub fn passing(self, names: BTreeSet<String>) -> Self {
        Self { passed: names, ..self }
    }

    /// Names of variables that what the session has read asks for. Which of them are given is decided by
    /// who starts the command.
    pub fn passed(&self) -> &BTreeSet<String> {
        &self.passed
    }
}

impl std::fmt::Debug for ShellState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.known.is_some() { "ShellState(known)" } else { "ShellState(new)" })
    }
}

/// Keeps the whole of an output that is too long for an answer.
pub trait Overflow: Send + Sync {
    /// Opens a file that only its owner can read.
    fn open(&self, session: &str, id: &str) -> Result<OverflowFile, String>;
}

/// An open overflow file.
pub struct OverflowFile {
    /// Where it is.
    pub path: PathBuf,
    /// Most bytes it may hold.
    pub limit: u64,
    /// Takes the bytes.
    pub file: Box<dyn std::io::Write + Send>,
}
