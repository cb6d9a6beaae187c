//! The contract for places where commands run.
//!
//! Two layers meet here. A backend implements [`Environment`]: it knows how to start something
//! there, and nothing else. The layer above it, shared by all backends, implements [`Workplace`]:
//! limits, killing, output, directories and shell state, background jobs. Tools see only that one.
//!
//! Starting takes a [`Permit<Exec>`], and what runs is the text in the permit. There is no other
//! way to start anything.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::files::Files;
use crate::host::WorkerLost;
use crate::jobs::Jobs;
use crate::permit::{Exec, Permit};
use crate::session::{Place, Slot};

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

    /// Opens it and says what was found there, for people.
    fn look(&self) -> BoxFuture<'_, Result<String, EnvError>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }

    /// Stops it; the next command opens it again. `everything`: also what is kept for later runs.
    fn close(&self, everything: bool) -> BoxFuture<'_, Result<(), EnvError>> {
        let _ = everything;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Program and arguments that give a person a shell there.
    fn shell(&self) -> BoxFuture<'_, Result<Vec<OsString>, EnvError>> {
        Box::pin(std::future::ready(Err(EnvError::NoShell)))
    }
}

/// Answers what a running program asks.
pub trait Desk: Send + Sync {
    /// The answer to one message. It is asked again before it has answered, up to
    /// [`MOST_UNANSWERED`] times at once, and wants to be quick when `over` fires.
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
pub struct ShellState(Option<Arc<dyn Any + Send + Sync>>);

impl ShellState {
    /// Wraps what a workplace wants to find again.
    pub fn new(state: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Some(state))
    }

    /// What was wrapped, if it is of this type.
    pub fn find<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.0.as_ref()?).downcast().ok()
    }
}

impl std::fmt::Debug for ShellState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "ShellState(known)" } else { "ShellState(new)" })
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

/// The places where commands run, by name; one of them is the default.
#[derive(Clone, Default)]
pub struct Environments {
    default: String,
    known: BTreeMap<String, Site>,
}

/// One of the places where commands run.
#[derive(Clone)]
pub struct Site {
    /// Runs commands there.
    pub place: Arc<dyn Workplace>,
    /// Its files, where they are not those of this machine.
    pub there: Option<There>,
    /// What is known about it without opening it.
    pub about: About,
}

/// The files of a place that has its own.
#[derive(Clone)]
pub struct There {
    /// Reads and changes them.
    pub files: Arc<dyn Files>,
    /// Where sessions begin there; `~` stands for the home there.
    pub first: Place,
}

/// What is known about an environment without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Which backend it is.
    pub backend: String,
    /// Where that is, in words: a host, an image.
    pub location: String,
    /// Whose it is, which decides how much is asked.
    pub standing: Standing,
}

/// What an environment is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// This machine.
    #[default]
    Own,
    /// Another machine, or a container that can reach what is the user's: asked about like this one.
    Shared,
    /// Can be thrown away: nothing in it is the user's, and only what leaves it is asked about.
    Disposable,
}

/// In the extensions of a session: the environment its calls work in when they name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen(pub String);

/// The name by which the default place can always be called.
pub const DEFAULT: &str = "default";

/// The argument by which a call names its environment.
pub const ARGUMENT: &str = "environment";

impl Environments {
    /// One place with the files of this machine, which is the default.
    pub fn new(name: impl Into<String>, place: Arc<dyn Workplace>) -> Self {
        let name = name.into();
        Self::default().default_to(name.clone()).with(name, place)
    }

    /// Names the place that is used when nobody names one.
    pub fn default_to(mut self, name: impl Into<String>) -> Self {
        self.default = name.into();
        self
    }

    /// Adds a place with the files of this machine.
    pub fn with(self, name: impl Into<String>, place: Arc<dyn Workplace>) -> Self {
        self.with_site(name, Site { place, there: None, about: About::default() })
    }

    /// Adds a place.
    pub fn with_site(mut self, name: impl Into<String>, site: Site) -> Self {
        self.known.insert(name.into(), site);
        self
    }

    /// Name of the default place; empty when there is none.
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The default place.
    pub fn default_place(&self) -> Result<Arc<dyn Workplace>, EnvError> {
        self.find(&self.default)
    }

    /// The place of that name.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Workplace>, EnvError> {
        Ok(Arc::clone(&self.site(name)?.place))
    }

    /// Everything about the place of that name.
    pub fn site(&self, name: &str) -> Result<&Site, EnvError> {
        let named = if name == DEFAULT && !self.known.contains_key(DEFAULT) { &self.default } else { name };
        self.known.get(named).ok_or_else(|| EnvError::Unknown(name.to_owned()))
    }

    /// All places, sorted by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Site)> {
        self.known.iter().map(|(name, site)| (name.as_str(), site))
    }

    /// The name under which a wish is known: the one it names, else the default.
    pub(crate) fn named<'a>(&'a self, wish: Option<&'a str>) -> &'a str {
        match wish.filter(|name| !name.is_empty()) {
            Some(DEFAULT) if !self.known.contains_key(DEFAULT) => &self.default,
            Some(name) => name,
            None => &self.default,
        }
    }
}

/// What a session's shells remember, one per environment.
#[derive(Debug, Default)]
pub struct Shells(BTreeMap<String, ShellState>);

impl Shells {
    /// What the shell in that environment knew last.
    pub fn of(&self, environment: &str) -> ShellState {
        self.0.get(environment).cloned().unwrap_or_default()
    }

    /// What it knows now.
    pub fn set(&mut self, environment: &str, state: ShellState) {
        self.0.insert(environment.to_owned(), state);
    }
}

impl Slot for Shells {
    const NAME: &'static str = "shell";
}

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
