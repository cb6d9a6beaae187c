//! `local`: commands run on this machine, as this user.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::future::BoxFuture;
use hermes_core::effect::Command;
use hermes_core::environment::{
    EnvError, Environment, Input, LINE, Output, Process, Start, Streams, Variables,
};
use hermes_core::host::Host;
use hermes_core::permit::{Exec, Permit};
use serde::Deserialize;

use super::{Backend, BackendDef, Opening};
use crate::fence::Fence;
use crate::probe::program_on_path;
use crate::process::guardian::{Guardian, Manner};
use crate::process::line;
use crate::process::ready::{self, Order, Ready};
use crate::process::running::Running;
use crate::process::spawn::{Program, behind, variable, word};
use crate::process::{MARK, secret_word};
use crate::shell::script::pieces;

pub(crate) const BACKEND: BackendDef = BackendDef::of::<Local>("local");

/// What a program in a terminal is told about it when nobody else says.
const TERM: &str = "xterm-256color";

/// There is nothing to set: this machine is as it is.
#[derive(Deserialize)]
struct Local {}

impl Backend for Local {
    type Env = Machine;

    async fn open(self, with: Opening) -> Result<Machine, EnvError> {
        Machine::new(with)
    }
}

/// This machine.
struct Machine {
    host: Arc<dyn Host>,
    shell: PathBuf,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    fence: Option<Arc<Fence>>,
    /// Our part of the mark every child carries.
    owner: String,
    started: AtomicU64,
    guardian: OnceLock<Option<Guardian>>,
    waiting: Arc<Mutex<Waiting>>,
}

/// The shell that waits for the next command.
#[derive(Default)]
struct Waiting {
    shell: Option<Ready>,
    /// Somebody is starting one.
    coming: bool,
    /// Whether there was a command that a waiting shell could have run: one alone is no sign that more follow.
    asked: bool,
}

impl Machine {
    fn new(with: Opening) -> Result<Self, EnvError> {
        let variables = with.variables.allowed();
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let shell = program_on_path("bash", &path.unwrap_or_default()).ok_or_else(|| EnvError::Start {
            what: "bash".to_owned(),
            why: "it is not on the search path; commands need it".to_owned(),
        })?;
        Ok(Self {
            host: with.host,
            shell,
            variables,
            folder: with.folder,
            fence: with.fence,
            owner: secret_word(),
            started: AtomicU64::new(0),
            guardian: OnceLock::new(),
            waiting: Arc::default(),
        })
    }

    fn start(&self, permit: &Permit<Exec>, start: Start) -> Result<Running, EnvError> {
        check_directory(&permit.command().workdir)?;
        let Command { text, workdir, .. } = permit.command();
        let order = Order::of(&start, workdir, text);
        let variables = self.given(start.variables, start.streams, start.line);
        if let Some(order) = &order {
            let taken = self.taken(order, &variables, &start.output);
            self.expect_another(variables.clone());
            if let Some(taken) = taken {
                return taken;
            }
        }
        let mark = self.fresh_mark();
        let mut arguments = self.shell_words(start.script)?;
        for text in start.arguments.iter().map(String::as_str).chain(pieces(text)) {
            arguments.push(word(text)?);
        }
        let (path, arguments) = shell_behind(self.fence.as_deref(), &self.shell, arguments)?;
        let marked = variables.into_iter().chain(variable(MARK.as_bytes(), mark.as_bytes()));
        let program = Program {
            path: &path,
            arguments,
            variables: marked.collect(),
            input: &start.input,
            streams: start.streams,
            line: start.line,
        };
        Running::start(&program, mark, start.output, &self.host)
    }

    /// The words that begin the shell of a script. By its whole path, or it would look for itself first.
    fn shell_words(&self, script: &str) -> Result<Vec<CString>, EnvError> {
        Ok(vec![word(&self.shell.to_string_lossy())?, word("-c")?, word(script)?, word("bash")?])
    }

    /// The command in the shell that waits, if there is one that fits.
    fn taken(
        &self,
        order: &Order<'_>,
        variables: &[CString],
        output: &Arc<dyn Output>,
    ) -> Option<Result<Running, EnvError>> {
        let ready = lock(&self.waiting).shell.take()?;
        if !ready.fits(variables, self.host.now()) {
            return None;
        }
        ready.run(order, Arc::clone(output), &self.host)
    }

    /// Starts a shell for a command that may come, where commands follow each other.
    fn expect_another(&self, variables: Vec<CString>) {
        let mut waiting = lock(&self.waiting);
        let alone = !std::mem::replace(&mut waiting.asked, true);
        if alone || waiting.coming || waiting.shell.is_some() {
            return;
        }
        let Ok(words) = self.shell_words(ready::SCRIPT) else { return };
        waiting.coming = true;
        drop(waiting);
        let (mark, host, waiting) = (self.fresh_mark(), Arc::clone(&self.host), Arc::clone(&self.waiting));
        let (shell, fence) = (self.shell.clone(), self.fence.clone());
        self.host.run_blocking(Box::new(move || {
            // Without it the next command has to wait for its shell, nothing more.
            let started = waiting_shell(&shell, fence.as_deref(), words, variables, mark, &host).ok();
            let mut waiting = lock(&waiting);
            waiting.shell = started;
            waiting.coming = false;
        }));
    }

    /// A mark of ours; from the first on somebody watches over what carries it.
    fn fresh_mark(&self) -> String {
        // Without a guardian only a sudden death of ours leaves something behind.
        self.guardian
            .get_or_init(|| Guardian::start(&self.owner, self.folder.as_deref(), Manner::AtOnce).ok());
        format!("{}.{}", self.owner, self.started.fetch_add(1, Ordering::Relaxed))
    }

    /// What a child is given, but for its mark.
    fn given(&self, wanted: Variables, streams: Streams, line: bool) -> Vec<CString> {
        let (usual, more) = match wanted {
            Variables::UsualAnd(more) => (self.variables.as_slice(), more),
            Variables::Only(these) => (&[][..], these),
        };
        let usual = usual.iter().filter(|(name, _)| !more.iter().any(|(other, _)| other == name));
        let mut given: Vec<_> = usual
            .chain(&more)
            .filter_map(|(name, value)| variable(name.as_bytes(), value.as_bytes()))
            .collect();
        let has_term = given.iter().any(|pair| {
            pair.as_bytes().strip_prefix(b"TERM=").is_some_and(|term| !term.is_empty() && term != b"dumb")
        });
        if matches!(streams, Streams::Terminal(_)) && !has_term {
            given.retain(|pair| !pair.as_bytes().starts_with(b"TERM="));
            given.extend(variable(b"TERM", TERM.as_bytes()));
        }
        if line {
            let place = format!("fd:{}", line::NUMBER);
            given.extend(variable(LINE.as_bytes(), place.as_bytes()));
        }
        given
    }
}

/// A shell that waits for its command.
fn waiting_shell(
    shell: &Path,
    fence: Option<&Fence>,
    words: Vec<CString>,
    variables: Vec<CString>,
    mark: String,
    host: &Arc<dyn Host>,
) -> Result<Ready, EnvError> {
    let (path, arguments) = shell_behind(fence, shell, words)?;
    let (streams, line) = (Streams::Merged, false);
    let program = Program { path: &path, arguments, variables, input: &Input::Open, streams, line };
    let marked = word(&format!("{MARK}={mark}"))?;
    Ready::start(program, mark, marked, host)
}

/// The shell, behind the fence where there is one.
fn shell_behind(
    fence: Option<&Fence>,
    shell: &Path,
    words: Vec<CString>,
) -> Result<(PathBuf, Vec<CString>), EnvError> {
    match fence {
        None => Ok((shell.to_path_buf(), words)),
        Some(fence) => behind(fence, shell, words),
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Environment for Machine {
    fn name(&self) -> &str {
        BACKEND.name()
    }

    fn shares_files(&self) -> bool {
        true
    }

    fn has_lines(&self) -> bool {
        true
    }

    fn mark(&self) -> Option<String> {
        Some(self.fresh_mark())
    }

    fn spawn(&self, permit: Permit<Exec>, start: Start) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        Box::pin(async move { Ok(Box::new(self.start(&permit, start)?) as Box<dyn Process>) })
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory that is not there should be said so in words")]
fn check_directory(path: &Path) -> Result<(), EnvError> {
    let wrong = |why: String| EnvError::Directory { path: path.to_path_buf(), why };
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(wrong("it is not a directory".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(wrong("it does not exist".to_owned()))
        }
        Err(error) => Err(wrong(error.to_string())),
    }
}
