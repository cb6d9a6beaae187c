//! Programs that call back: started with a line to us, answered while they run, ended with everything
//! they started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, join, select};
use futures::stream::{self, StreamExt as _};
use hermes_core::environment::{
    Desk, EnvError, Input, Line, Output, Process, Script, ScriptRan, Stands, Start, Stream, Streams,
    Variables, Why,
};
use hermes_core::host::Host;
use hermes_core::permit::{Exec, Permit};
use tokio_util::sync::CancellationToken;

use crate::capture::Capture;
use crate::probe;
use crate::shell::folder::TempFolder;
use crate::shell::script::CALLING;
use crate::sudo::Asks;
use crate::workplace::{CANCEL_GRACE, GRACE, LAST_WORDS, Opened, Pairs, Shared};

/// How long answers that were begun are waited for when the program is over.
const LAST_ANSWERS: Duration = Duration::from_secs(4);

/// Where a project keeps its own Python, best first.
const VENVS: [&str; 2] = [".venv", "venv"];

impl Shared {
    /// Runs a program that calls back.
    pub(crate) async fn run_calling(
        &self,
        permit: Permit<Exec>,
        script: Script,
    ) -> Result<ScriptRan, EnvError> {
        let opened = self.opened().await?;
        let folder = opened.folder.as_ref().filter(|_| opened.environment.has_lines());
        let folder = folder.ok_or(EnvError::NoScripts)?;
        let mut notes = Vec::new();
        let known = self.known(&opened, &permit, &script.shell, &script.cancel, &mut notes).await?;
        let (module, empty) = (made(TempFolder::make(folder))?, made(TempFolder::make(folder))?);
        let (name, text) = &script.module;
        made(module.put(name, text.as_bytes()))?;
        let workdir = match script.stands {
            Stands::InProject => permit.command().workdir.clone(),
            Stands::Apart => empty.path().to_path_buf(),
        };
        let usual = self.variables(&opened, known.as_deref(), &script.shell, Asks::ThePerson);
        let heard = Arc::new(Heard {
            out: Capture::new(
                script.keep.0,
                self.keeper_of_the_rest(),
                &script.session,
                permit.call().as_str(),
            ),
            err: Capture::new(script.keep.1, None, &script.session, permit.call().as_str()),
        });
        let start = Start {
            script: CALLING,
            arguments: vec![
                script.memory.map(|bytes| (bytes / 1024).max(1).to_string()).unwrap_or_default(),
                workdir.to_string_lossy().into_owned(),
            ],
            input: Input::Empty,
            streams: Streams::Separate,
            variables: Variables::Only(variables(usual, &script, module.path(), &workdir)),
            line: true,
            output: Arc::clone(&heard) as Arc<_>,
        };
        let begin = self.host().now();
        let why = self.carried_through(&opened, permit, start, &script).await?;
        let took = self.host().now().saturating_sub(begin);
        Ok(ScriptRan { why, out: heard.out.kept(), err: heard.err.kept(), took, notes })
    }

    /// Starts it, answers it, and sees that nothing of it is left.
    async fn carried_through(
        &self,
        opened: &Opened,
        permit: Permit<Exec>,
        start: Start,
        script: &Script,
    ) -> Result<Why, EnvError> {
        let mut process = opened.environment.spawn(permit, start).await?;
        let line = process.line().ok_or(EnvError::NoScripts)?;
        let over = script.cancel.child_token();
        let watched = async {
            let why = self.until_over(process.as_mut(), script).await;
            over.cancel();
            let grace = match &why {
                Ok(Why::Ended(_)) | Err(_) => Duration::ZERO,
                Ok(Why::TimedOut(_)) => GRACE,
                Ok(Why::Cancelled) => CANCEL_GRACE,
            };
            process.stop(grace).await;
            if !matches!(why, Ok(Why::Ended(_))) {
                // What it still had to say is listened to; the answer is given all the same.
                select(process.ended(), self.host().sleep(LAST_WORDS)).await;
            }
            why
        };
        join(watched, served(line.as_ref(), script.desk.as_ref(), &over, self.host())).await.0
    }

    async fn until_over(&self, process: &mut dyn Process, script: &Script) -> Result<Why, EnvError> {
        let over = select(self.host().sleep(script.timeout), Box::pin(script.cancel.cancelled()));
        match select(process.ended(), over).await {
            Either::Left((end, _)) => end.map(Why::Ended),
            Either::Right((Either::Left(_), _)) => Ok(Why::TimedOut(script.timeout)),
            Either::Right((Either::Right(_), _)) => Ok(Why::Cancelled),
        }
    }
}

/// Answers everything that comes until it is over, several at a time. What was begun then is waited
/// for a little: it was told to stop, and its end wants to be written down.
pub(crate) async fn served(line: &dyn Line, desk: &dyn Desk, over: &CancellationToken, host: &Arc<dyn Host>) {
    let messages = stream::unfold((), |()| async move { Some((line.next().await?, ())) });
    let all = messages.take_until(over.cancelled()).for_each_concurrent(None, |message| async move {
        line.answer(desk.answer(message, over).await);
    });
    let late = async {
        over.cancelled().await;
        host.sleep(LAST_ANSWERS).await;
    };
    select(pin!(all), pin!(late)).await;
}

/// What it writes, each output for itself.
pub(crate) struct Heard {
    pub(crate) out: Capture,
    pub(crate) err: Capture,
}

impl Output for Heard {
    fn take(&self, from: Stream, bytes: &[u8]) {
        match from {
            Stream::Out => self.out.take(from, bytes),
            Stream::Err => self.err.take(from, bytes),
        }
    }
}

fn made<T>(done: std::io::Result<T>) -> Result<T, EnvError> {
    let doing = || "making the folder of the script".to_owned();
    done.map_err(|why| EnvError::Files { doing: doing(), why: why.to_string() })
}

/// The variables of a script: the usual ones, its own, the project's Python, and where its module is.
fn variables(usual: Pairs, script: &Script, module: &Path, workdir: &Path) -> Pairs {
    let mut all = usual;
    let find = |all: &Pairs, name: &str| all.iter().find(|(known, _)| known == name).map(|it| it.1.clone());
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().any(|name| find(&all, name).is_some());
    if script.stands == Stands::InProject
        && !active
        && let Some(venv) = own_python(workdir)
    {
        let path = find(&all, "PATH").unwrap_or_default();
        set(&mut all, "PATH", in_front(&[&venv.join("bin")], &path));
        set(&mut all, "VIRTUAL_ENV", venv.into_os_string());
    }
    for (name, value) in &script.variables {
        all.retain(|(known, _)| known != name);
        all.push((name.clone(), value.clone()));
    }
    let before = find(&all, script.module_path).unwrap_or_default();
    // The program's own folder comes after: nothing there stands in for the module.
    set(&mut all, script.module_path, in_front(&[module, workdir], &before));
    all
}

fn set(all: &mut Pairs, name: &str, value: OsString) {
    all.retain(|(known, _)| known != name);
    all.push((name.into(), value));
}

fn in_front(paths: &[&Path], before: &OsStr) -> OsString {
    let mut all = OsString::new();
    for part in paths.iter().map(|path| path.as_os_str()).chain([before]).filter(|part| !part.is_empty()) {
        if !all.is_empty() {
            all.push(":");
        }
        all.push(part);
    }
    all
}

/// The project's own Python, if it has one.
fn own_python(workdir: &Path) -> Option<PathBuf> {
    let mut found = VENVS.iter().map(|name| workdir.join(name));
    found.find(|venv| probe::file_exists(&venv.join("bin/python3")))
}
