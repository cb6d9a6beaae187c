//! Commands over there: what their shell starts with, and what it leaves for the next.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::{EnvError, Input, Process as _, Ran, Run, ShellState, Streams, Why};
use hermes_core::permit::{Exec, Permit};
use tokio_util::sync::CancellationToken;

use crate::capture::Capture;
use crate::far::Far;
use crate::far::facts::Facts;
use crate::far::filter::Over;
use crate::far::place::Opened;
use crate::far::process::{FarProcess, Wanted};
use crate::far::scripts::{COMMAND, COMMAND_SH};
use crate::process::secret_word;
use crate::shell::script::pieces;
use crate::workplace::{CANCEL_GRACE, GRACE, LAST_WORDS};

/// Longest command that is handed over among the words of a program; a longer one goes as a file.
const LONGEST_WORDS: usize = 60_000;

/// Longest command that is told to a shell which reads it letter by letter.
const LONGEST_REQUEST: usize = 8_000;

/// What a session's shell there knows: a file, in that place as it was made then.
struct FarKnown {
    identity: String,
    file: String,
    unwanted: Arc<Mutex<Vec<String>>>,
}

impl Drop for FarKnown {
    fn drop(&mut self) {
        let file = std::mem::take(&mut self.file);
        self.unwanted.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }
}

impl Far {
    /// A command that is too long to be handed over among words is put into a file there first.
    pub(super) async fn shipped(&self, text: &str) -> Result<String, EnvError> {
        if text.len() <= LONGEST_WORDS {
            return Ok(text.to_owned());
        }
        let opened = self.opened().await?;
        let file = format!("{}/s/c{}", opened.facts.folder, secret_word());
        self.put(&file, text.as_bytes()).await?;
        let file = crate::far::quote::quoted(&file);
        Ok(format!("eval \"$(cat {file}; rm -f {file})\""))
    }

    /// The file in which the session's last shell left what it knew, if it is still there.
    pub(super) fn state_file(opened: &Arc<Opened>, shell: &ShellState) -> Option<String> {
        let known = shell.find::<FarKnown>().filter(|known| known.identity == opened.identity)?;
        Some(known.file.clone())
    }

    fn command(
        &self,
        opened: &Arc<Opened>,
        text: &str,
        run: &Run,
        workdir: &Path,
        output: &Arc<Capture>,
    ) -> Wanted {
        let facts = &opened.facts;
        let left = format!("{}/s/{}", facts.folder, secret_word());
        let tell = format!("{left}.d");
        let directory = facts.expanded(workdir);
        let script = if facts.bash { COMMAND } else { COMMAND_SH };
        let mark = opened.fresh_mark();
        let from = Self::state_file(opened, &run.shell).unwrap_or_default();
        let given = [from, left.clone(), directory.clone(), self.login_file(facts)];
        let plain = run.input.is_empty() && run.terminal.is_none() && text.len() <= LONGEST_REQUEST;
        let unwanted: Vec<String> =
            opened.unwanted.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        let unwanted = unwanted.join(" ");
        let request = (plain && facts.lane).then(|| {
            let first = [mark.clone(), unwanted.clone()].into_iter().chain(given.iter().cloned());
            first.chain(pieces(text).map(str::to_owned)).collect()
        });
        let mut words = facts.shell_words(run.terminal.is_some(), script);
        words.extend(given);
        words.push(tell.clone());
        words.extend(pieces(text).map(str::to_owned));
        Wanted {
            words,
            request,
            variables: Vec::new(),
            only: false,
            left,
            tell,
            unwanted,
            directory,
            input: match (run.input.is_empty(), run.terminal) {
                (true, None) => Input::Empty,
                (true, Some(_)) => Input::Open,
                _ => Input::Bytes(run.input.clone()),
            },
            streams: run.terminal.map_or(Streams::Merged, Streams::Terminal),
            output: Arc::clone(output) as Arc<_>,
            mark,
        }
    }

    /// File with what start-up files set, or nothing when they are not wanted.
    pub(super) fn login_file(&self, facts: &Facts) -> String {
        if self.settings.login { format!("{}/login", facts.folder) } else { String::new() }
    }

    pub(super) async fn run_command(&self, permit: Permit<Exec>, run: Run) -> Result<Ran, EnvError> {
        let _using = self.idle.using();
        let workdir = permit.command().workdir.clone();
        let overflow = self.settings.overflow.clone();
        let text = self.shipped(&permit.command().text).await?;
        let capture =
            || Arc::new(Capture::new(run.keep, overflow.clone(), &run.session, permit.call().as_str()));
        let output = capture();
        let (mut process, opened, wanted) =
            self.begin(|opened| self.command(opened, &text, &run, &workdir, &output)).await?;
        let watched = self.watched(&mut process, run.timeout, &run.cancel).await;
        drop(process);
        let (why, over) = match watched {
            Err(EnvError::CutOff { environment, why, .. }) => {
                return Err(EnvError::CutOff { environment, why, output: Box::new(output.kept()) });
            }
            watched => watched?,
        };
        let mut notes = std::mem::take(&mut *opened.notes.lock().unwrap_or_else(PoisonError::into_inner));
        let cwd = match over {
            Some(Over::NoDirectory) => {
                return Err(EnvError::Directory { path: workdir, why: "it does not exist there".to_owned() });
            }
            Some(Over::Ended(_, cwd)) => cwd,
            None => None,
        };
        let lost = run.shell.find::<FarKnown>().is_some_and(|known| known.identity != opened.identity);
        if lost {
            notes.push(format!("{} was made anew; what earlier commands left in it is gone", self.name));
        }
        let shell = match &cwd {
            Some(_) if matches!(why, Why::Ended(_)) => ShellState::new(Arc::new(FarKnown {
                identity: opened.identity.clone(),
                file: wanted.left,
                unwanted: Arc::clone(&opened.unwanted),
            })),
            _ => run.shell,
        };
        let cwd = cwd.filter(|_| matches!(why, Why::Ended(_)));
        Ok(Ran { why, output: output.kept(), cwd, shell, notes })
    }

    /// Waits for the end, the limit, or the caller's change of mind, and stops it where needed.
    async fn watched(
        &self,
        process: &mut FarProcess,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<(Why, Option<Over>), EnvError> {
        let over = select(self.host.sleep(limit), Box::pin(cancel.cancelled()));
        let (why, grace) = match select(Box::pin(process.finished()), over).await {
            Either::Left((over, _)) => {
                let over = over?;
                return Ok((Why::Ended(over.end()), Some(over)));
            }
            Either::Right((Either::Left(_), _)) => (Why::TimedOut(limit), GRACE),
            Either::Right((Either::Right(_), _)) => (Why::Cancelled, CANCEL_GRACE),
        };
        process.stop(grace).await;
        // What it still had to say is listened to; the answer is given all the same.
        select(Box::pin(process.finished()), self.host.sleep(LAST_WORDS)).await;
        Ok((why, None))
    }
}
