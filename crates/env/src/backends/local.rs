//! `local`: commands run on this machine, as this user.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Environment, LINE, Process, Start, Streams, Variables};
use hermes_core::host::Host;
use hermes_core::permit::{Exec, Permit};
use serde::Deserialize;

use super::{Backend, BackendDef, Opening};
use crate::fence::Fence;
use crate::probe::program_on_path;
use crate::process::guardian::Guardian;
use crate::process::line;
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
        })
    }

    fn start(&self, permit: &Permit<Exec>, start: Start) -> Result<Running, EnvError> {
        check_directory(&permit.command().workdir)?;
        let mark = self.fresh_mark();
        // By its whole path, or it would look for itself first.
        let shell = self.shell.to_string_lossy();
        let mut arguments = vec![word(&shell)?, word("-c")?, word(start.script)?, word("bash")?];
        for text in start.arguments.iter().map(String::as_str).chain(pieces(&permit.command().text)) {
            arguments.push(word(text)?);
        }
        let (path, arguments) = match &self.fence {
            None => (self.shell.clone(), arguments),
            Some(fence) => behind(fence, &self.shell, arguments)?,
        };
        let program = Program {
            path: &path,
            arguments,
            variables: self.given(start.variables, start.streams, start.line, &mark),
            input: &start.input,
            streams: start.streams,
            line: start.line,
        };
        Running::start(&program, mark, start.output, &self.host)
    }

    /// A mark of ours; from the first on somebody watches over what carries it.
    fn fresh_mark(&self) -> String {
        // Without a guardian only a sudden death of ours leaves something behind.
        self.guardian.get_or_init(|| Guardian::start(&self.owner, self.folder.as_deref()).ok());
        format!("{}.{}", self.owner, self.started.fetch_add(1, Ordering::Relaxed))
    }

    fn given(&self, wanted: Variables, streams: Streams, line: bool, mark: &str) -> Vec<std::ffi::CString> {
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
        given.extend(variable(MARK.as_bytes(), mark.as_bytes()));
        given
    }
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
