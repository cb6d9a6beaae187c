//! Background jobs over there: commands that go on after the call that started them.
//!
//! A job has a folder in the place it runs in, and a keeper there, which is a shell that outlives its
//! client. So a job goes on when the connection breaks and when this program ends, is found again by the
//! next one, and goes when its place goes. Nothing about it has to be remembered here; what is remembered
//! is only what somebody wants to be told.
//!
//! | file | what |
//! |---|---|
//! | `scripts.rs` | what runs over there |
//! | `record.rs` | what is known about a job |
//! | `known.rs` | what is remembered, and what is to be told |
//! | `follow.rs` | hears of what happens to jobs |

mod follow;
mod known;
mod record;
mod scripts;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Size};
use hermes_core::jobs::{Job, JobInput, JobState, Jobs, LogLines, LogPage, NewJob, Notice};
use hermes_core::permit::{Exec, Permit};

use crate::far::Far;
use crate::far::files::LIMIT;
use crate::far::place::Opened;
use crate::far::process::{Aim, stop_there};
use crate::far::quote::quoted;
use crate::far::scripts::{COMMAND, COMMAND_SH};
use crate::far::talk::Talk;
use crate::jobs::{new_id, now, own_process};
use crate::process::secret_word;
use crate::shell::script::pieces;

pub(super) use known::FarJobs;
use record::{Found, Record};

/// Most jobs that may run at once.
const MAX_RUNNING: usize = 256;

/// Finished jobs that are kept, and for how long after their end.
const MAX_FINISHED: usize = 64;
const KEEP_FINISHED: Duration = Duration::from_mins(30);

/// What a job gets to stop by itself when it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// How long a written text may wait to be read.
const WRITING: Duration = Duration::from_secs(5);

/// Longest time one program there waits for the end of a job; then another does.
const SLICE: Duration = Duration::from_secs(20);

impl Far {
    async fn start_job(&self, permit: Permit<Exec>, job: NewJob) -> Result<Job, EnvError> {
        let _using = self.idle.using();
        self.make_room().await?;
        let text = self.shipped(&permit.command().text).await?;
        let opened = self.opened().await?;
        let workdir = &permit.command().workdir;
        let record = Record {
            id: new_id(),
            session: job.session,
            command: permit.command().text.clone(),
            cwd: opened.facts.expanded(workdir).into(),
            // Not among those that end with us.
            mark: format!("job.{}.", secret_word()),
            watch: job.watch,
            notify: job.notify,
            started_at: now(),
            owner: own_process(),
        };
        let from = Self::state_file(&opened, &job.shell).unwrap_or_default();
        let words = self.job_words(&opened, &record, &text, &from, job.terminal)?;
        let input = serde_json::to_vec(&record).unwrap_or_default();
        let talk = self.ask_by(words, [input, b"\n".to_vec()].concat(), LIMIT).await?;
        let said = String::from_utf8_lossy(&talk.out).trim().to_owned();
        if said == "nodir" {
            return Err(EnvError::Directory {
                path: workdir.clone(),
                why: "it does not exist there".to_owned(),
            });
        }
        let Some(pid) = said.strip_prefix("started ").and_then(|pid| pid.trim().parse().ok()) else {
            let why = talk.complaint("it did not come up there");
            return Err(EnvError::Start { what: "the background process".to_owned(), why });
        };
        let found = Found { state: JobState::Running, pid, ..record.lost() };
        self.follow(&found).await;
        Ok(found.job())
    }

    /// Program and words that start a job.
    fn job_words(
        &self,
        opened: &Arc<Opened>,
        record: &Record,
        text: &str,
        from: &str,
        terminal: Option<Size>,
    ) -> Result<Vec<String>, EnvError> {
        let facts = &opened.facts;
        let folder = format!("{}/jobs/{}", facts.folder, record.id);
        let script = if facts.bash { COMMAND } else { COMMAND_SH };
        let state = if from.is_empty() { String::new() } else { format!("{folder}/state") };
        let directory = record.cwd.to_string_lossy().into_owned();
        let mut program: Vec<String> =
            [facts.shell.as_str(), "-c", script, facts.shell_name()].map(str::to_owned).to_vec();
        program.extend([state, String::new(), directory.clone(), self.login_file(facts), String::new()]);
        program.extend(pieces(text).map(str::to_owned));
        if let Some(size) = terminal {
            if !facts.script {
                let what = "a background process in a terminal".to_owned();
                return Err(EnvError::Start { what, why: "`script` is not installed there".to_owned() });
            }
            program = in_terminal(&program, size);
        }
        let mut words: Vec<String> =
            [facts.shell.as_str(), "-c", scripts::START, "hermes"].map(str::to_owned).to_vec();
        let (setsid, keep) = (facts.setsid_word().to_owned(), scripts::KEEP.to_owned());
        words.extend([folder, record.mark.clone(), setsid, keep, from.to_owned(), directory]);
        words.extend(program);
        Ok(words)
    }

    /// Forgets old jobs and ends what is left of those that lost their keeper.
    async fn make_room(&self) -> Result<(), EnvError> {
        let all = self.found("*").await?;
        let running = all.iter().filter(|found| !found.state.is_over()).count();
        if running >= MAX_RUNNING {
            return Err(EnvError::TooManyJobs(running));
        }
        for lost in all.iter().filter(|found| found.state == JobState::Lost) {
            let aim = Aim { mark: lost.record.mark.clone(), ..Aim::default() };
            stop_there(&self.reach, &self.host, aim, Duration::ZERO).await;
        }
        let mut over: Vec<&Found> = all.iter().filter(|found| found.state.is_over()).collect();
        over.sort_by_key(|found| found.over_for);
        let old = |found: &Found| found.over_for.is_some_and(|time| time > KEEP_FINISHED);
        let mut unwanted = Vec::new();
        for (n, found) in over.into_iter().enumerate() {
            if n >= MAX_FINISHED || old(found) {
                unwanted.push(self.folder(&found.record.id).await?);
            }
        }
        if !unwanted.is_empty() {
            self.ask(scripts::FORGET, &unwanted, Vec::new(), LIMIT).await?;
        }
        Ok(())
    }

    async fn folder(&self, id: &str) -> Result<String, EnvError> {
        Ok(format!("{}/jobs/{id}", self.opened().await?.facts.folder))
    }

    /// The job of that id, or all of them.
    async fn found(&self, id: &str) -> Result<Vec<Found>, EnvError> {
        let all = format!("{}/jobs", self.opened().await?.facts.folder);
        let talk = self.ask(scripts::LIST, &[all, id.to_owned()], Vec::new(), LIMIT).await?;
        let mut found = record::read(&talk.out);
        for found in &mut found {
            self.jobs.complete(found);
        }
        Ok(found)
    }

    /// One job that a session may look at.
    async fn find(&self, session: &str, id: &str) -> Result<Found, EnvError> {
        let missing = || EnvError::NoJob(id.to_owned());
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if id.is_empty() || !id.chars().all(sound) {
            return Err(missing());
        }
        let there = self.found(id).await?.pop();
        // One that we started and that is not there any more went with its place.
        let found = there.or_else(|| self.jobs.started(id).map(Record::lost)).ok_or_else(missing)?;
        if found.is_visible_to(session) { Ok(found) } else { Err(missing()) }
    }

    /// Whether something runs in the background of a place that is open, and whose lock is held.
    pub(super) async fn has_running_jobs(&self, opened: &Opened) -> bool {
        if !opened.facts.jobs && !self.jobs.any() {
            return false;
        }
        let folder = format!("{}/jobs", opened.facts.folder);
        let words = ["sh", "-c", scripts::LIST, "hermes", &folder, "*"].map(str::to_owned).to_vec();
        let said = Talk::ask(self.reach.as_ref(), &self.host, words, Vec::new(), LIMIT).await;
        said.is_ok_and(|said| record::read(&said.out).iter().any(|found| !found.state.is_over()))
    }

    async fn job_script(&self, id: &str, script: &str, more: &[String]) -> Result<Talk, EnvError> {
        let arguments = [&[self.folder(id).await?], more].concat();
        self.ask(script, &arguments, Vec::new(), LIMIT).await
    }

    async fn job_tail(&self, id: &str, bytes: usize) -> Result<Vec<u8>, EnvError> {
        Ok(self.job_script(id, scripts::TAIL, &[bytes.to_string()]).await?.out)
    }

    async fn job_lines(&self, id: &str, page: LogPage) -> Result<LogLines, EnvError> {
        let from = page.from.map(|from| from.to_string()).unwrap_or_default();
        // No shell counts further than this.
        let most = |number: usize| number.min(1 << 30).to_string();
        let asked = [from, most(page.lines), most(page.bytes)];
        let talk = self.job_script(id, scripts::LINES, &asked).await?;
        Ok(lines(&talk.out))
    }

    async fn wait_for_job(&self, session: &str, id: &str, limit: Duration) -> Result<Job, EnvError> {
        let _using = self.idle.using();
        let until = self.host.now() + limit;
        loop {
            let job = self.find(session, id).await?.job();
            let left = until.saturating_sub(self.host.now());
            if job.state.is_over() || left.is_zero() {
                return Ok(job);
            }
            let steps = left.min(SLICE).as_millis().div_ceil(250).to_string();
            self.job_script(id, scripts::WAIT, &[steps]).await?;
        }
    }

    async fn kill_job(&self, session: &str, id: &str) -> Result<Job, EnvError> {
        let found = self.find(session, id).await?;
        if found.state.is_over() {
            return Ok(found.job());
        }
        self.job_script(id, scripts::KILLED, &[]).await?;
        let aim =
            Aim { mark: found.record.mark, parent: None, session: Some(found.pid).filter(|pid| *pid > 0) };
        stop_there(&self.reach, &self.host, aim, GRACE).await;
        self.wait_for_job(session, id, Duration::from_secs(10)).await
    }

    async fn write_to_job(&self, session: &str, id: &str, input: JobInput) -> Result<(), EnvError> {
        if self.find(session, id).await?.state.is_over() {
            return Err(EnvError::Input("it has ended".to_owned()));
        }
        let folder = self.folder(id).await?;
        let talk = match input {
            JobInput::End => self.ask(scripts::CLOSE, &[folder], Vec::new(), LIMIT).await?,
            JobInput::Bytes(bytes) if bytes.is_empty() => return Ok(()),
            JobInput::Bytes(bytes) => {
                let words = ["sh", "-c", scripts::WRITE, "hermes", &folder].map(str::to_owned).to_vec();
                // Written once: asking again could write it twice.
                Talk::ask(self.reach.as_ref(), &self.host, words, bytes, WRITING)
                    .await
                    .map_err(|_| EnvError::Input("it does not read what is written to it".to_owned()))?
            }
        };
        if talk.is_well() { Ok(()) } else { Err(EnvError::Input(talk.complaint("it cannot be reached"))) }
    }
}

impl Jobs for Far {
    fn start(&self, permit: Permit<Exec>, job: NewJob) -> BoxFuture<'_, Result<Job, EnvError>> {
        Box::pin(self.start_job(permit, job))
    }

    fn list<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Vec<Job>, EnvError>> {
        Box::pin(async move {
            let all = self.found("*").await?.into_iter();
            Ok(all.filter(|found| found.is_visible_to(session)).map(|found| found.job()).collect())
        })
    }

    fn look<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>> {
        Box::pin(async move { Ok(self.find(session, id).await?.job()) })
    }

    fn tail<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        bytes: usize,
    ) -> BoxFuture<'a, Result<Vec<u8>, EnvError>> {
        Box::pin(async move {
            self.find(session, id).await?;
            self.job_tail(id, bytes).await
        })
    }

    fn log<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        page: LogPage,
    ) -> BoxFuture<'a, Result<LogLines, EnvError>> {
        Box::pin(async move {
            self.find(session, id).await?;
            self.job_lines(id, page).await
        })
    }

    fn wait<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Job, EnvError>> {
        Box::pin(self.wait_for_job(session, id, limit))
    }

    fn kill<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>> {
        Box::pin(self.kill_job(session, id))
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        input: JobInput,
    ) -> BoxFuture<'a, Result<(), EnvError>> {
        Box::pin(self.write_to_job(session, id, input))
    }

    fn notices(&self) -> Vec<Notice> {
        self.take_notices()
    }

    fn noticed(&self) -> BoxFuture<'_, ()> {
        self.jobs.some()
    }
}

/// A program in a terminal of this size, whoever its shell is.
fn in_terminal(program: &[String], size: Size) -> Vec<String> {
    let line: Vec<String> = program.iter().map(|word| quoted(word)).collect();
    let line = format!(
        "stty rows {} cols {} 2>/dev/null; if [ -n \"$__H_SHELL\" ]; then export SHELL=\"$__H_SHELL\"; \
         else unset SHELL; fi; unset __H_SHELL; exec {}",
        size.rows,
        size.columns,
        line.join(" ")
    );
    let inside = r#"__H_SHELL=$SHELL SHELL=/bin/sh TERM=xterm-256color exec script -qefc "$1" /dev/null"#;
    ["sh", "-c", inside, "sh", &line].map(str::to_owned).to_vec()
}

/// Reads what the script says about lines.
fn lines(said: &[u8]) -> LogLines {
    let end = memchr::memchr(b'\n', said).unwrap_or(said.len());
    let (head, rest) = said.split_at(end);
    let text = rest.get(1..).unwrap_or_default().to_vec();
    let head = String::from_utf8_lossy(head).into_owned();
    let mut words = head.splitn(4, ' ');
    let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let (first, total, dropped) = (number(), number(), number());
    let path = PathBuf::from(words.next().unwrap_or_default());
    let open = text.last().is_some_and(|byte| *byte != b'\n');
    let count =
        u64::try_from(memchr::memchr_iter(b'\n', &text).count()).unwrap_or(u64::MAX) + u64::from(open);
    LogLines { text, first, count, total, dropped, path }
}
