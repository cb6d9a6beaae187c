//! A far place in use: opened when it is first needed, closed when nobody has needed it for a while.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{
    EnvError, Environment, Input, Overflow, Process, Ran, Run, Script, ScriptRan, Start, Streams, Variables,
    Workplace,
};
use hermes_core::host::Host;
use hermes_core::jobs::Jobs;
use hermes_core::permit::{Exec, Permit};

use crate::backends::Surroundings;
use crate::far::facts::Facts;
use crate::far::idle::Idle;
use crate::far::jobs::FarJobs;
use crate::far::lane::Lanes;
use crate::far::process::{FarProcess, Ignored, NotStarted, Wanted};
use crate::far::scripts::STOP;
use crate::far::talk::Talk;
use crate::far::{Call, Close, Reach};
use crate::process::secret_word;
use crate::shell::script::pieces;

/// How a far place is used.
#[derive(Clone)]
pub struct FarSettings {
    /// Its name, for people.
    pub name: String,
    /// By which what is ours there is known again, by us alone.
    pub owner: String,
    /// Whether the user's start-up files there are read, once.
    pub login: bool,
    /// Closed when nobody used it for this long.
    pub lifetime: Duration,
    /// Keeps the whole of outputs that are too long.
    pub overflow: Option<Arc<dyn Overflow>>,
}

impl FarSettings {
    /// For a place that is used without anything around it.
    pub(crate) fn alone(around: &Surroundings) -> Self {
        let (name, owner) = (around.name.clone(), around.owner.clone());
        Self { name, owner, login: false, lifetime: Duration::ZERO, overflow: None }
    }
}

/// A far place.
pub(crate) struct Far {
    pub(super) name: Arc<str>,
    pub(super) reach: Arc<dyn Reach>,
    pub(super) host: Arc<dyn Host>,
    pub(super) settings: FarSettings,
    opened: futures::lock::Mutex<Option<Arc<Opened>>>,
    pub(super) idle: Arc<Idle>,
    pub(super) jobs: Arc<FarJobs>,
    pub(super) me: Weak<Self>,
}

/// A far place that answers.
pub(super) struct Opened {
    pub(super) facts: Facts,
    pub(super) identity: String,
    /// What the marks of all processes begin with that are started while it is open. Another opening has
    /// another: whoever stops late what this one left running does not touch what came after it.
    mark: String,
    started: AtomicU64,
    /// Shells there that run one command after the other.
    pub(super) lanes: Arc<Lanes>,
    /// What was worth telling when it was opened; told once.
    pub(super) notes: Mutex<Vec<String>>,
    /// Files of shells that nobody needs any more.
    pub(super) unwanted: Arc<Mutex<Vec<String>>>,
    /// Ends what runs there when we are gone.
    _lifeline: Option<Box<dyn Process>>,
}

impl Opened {
    /// A mark nothing else carries.
    pub(super) fn fresh_mark(&self) -> String {
        format!("{}.{}.", self.mark, self.started.fetch_add(1, Ordering::Relaxed))
    }
}

impl Far {
    /// A place that is opened when the first command comes.
    pub(crate) fn new(reach: Arc<dyn Reach>, settings: FarSettings, host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            name: settings.name.as_str().into(),
            reach,
            settings,
            opened: futures::lock::Mutex::new(None),
            idle: Arc::default(),
            jobs: Arc::default(),
            me: Weak::clone(me),
            host,
        })
    }

    /// The place, made ready if it is not.
    pub(super) async fn opened(&self) -> Result<Arc<Opened>, EnvError> {
        let mut opened = self.opened.lock().await;
        if let Some(opened) = &*opened {
            return Ok(Arc::clone(opened));
        }
        let ready = self.reach.ready().await?;
        let facts = self.facts().await?;
        let mark = secret_word();
        let lifeline = self.lifeline(&mark).await;
        let fresh = Arc::new(Opened {
            facts,
            identity: ready.identity,
            lanes: Lanes::new(format!("{mark}.lane.")),
            mark,
            started: AtomicU64::new(0),
            notes: Mutex::new(ready.notes),
            unwanted: Arc::default(),
            _lifeline: lifeline,
        });
        *opened = Some(Arc::clone(&fresh));
        self.idle.watch(&self.me, &self.host, self.settings.lifetime);
        drop(opened);
        self.find_jobs_again(&fresh);
        Ok(fresh)
    }

    /// What was found out about it may not hold any more.
    pub(super) async fn forget(&self, known: &Arc<Opened>) {
        let mut opened = self.opened.lock().await;
        if opened.as_ref().is_some_and(|now| Arc::ptr_eq(now, known)) {
            *opened = None;
        }
    }

    async fn facts(&self) -> Result<Facts, EnvError> {
        let words = Facts::words(&self.settings.owner);
        let said = Talk::ask(self.reach.as_ref(), &self.host, words, Vec::new(), Facts::LIMIT).await?;
        Facts::read(&said.out).ok_or_else(|| EnvError::Unreachable {
            environment: self.name.to_string(),
            why: said.complaint("it has no usable `sh`"),
        })
    }

    /// A program there that waits for us to be gone, and then stops what we left running.
    async fn lifeline(&self, mark: &str) -> Option<Box<dyn Process>> {
        if !self.reach.hears_our_end() {
            return None;
        }
        let mark = format!("{mark}.");
        let words = ["sh", "-c", STOP, "hermes", &mark, "0", "wait"].map(str::to_owned).to_vec();
        let output = Arc::new(Ignored);
        let (input, streams) = (Input::Open, Streams::Separate);
        // Without it only a sudden death of ours leaves something running there.
        self.reach.start(Call { words, input, streams, output }).await.ok()
    }

    /// Starts what `wanted` says for the place as it is; again, once, if it did not arrive.
    pub(super) async fn begin(
        &self,
        wanted: impl Fn(&Arc<Opened>) -> Wanted,
    ) -> Result<(FarProcess, Arc<Opened>, Wanted), EnvError> {
        let mut last = String::new();
        for again in [false, true] {
            let opened = self.opened().await?;
            let mut asked = wanted(&opened);
            if again {
                // By the plainest way there is.
                asked.request = None;
            }
            match FarProcess::start(&self.name, &self.reach, &self.host, &opened, &asked).await {
                Ok(process) => return Ok((process, opened, asked)),
                Err(NotStarted::Failed(wrong)) => return Err(wrong),
                Err(NotStarted::Lost(talk)) => {
                    last = talk;
                    self.forget(&opened).await;
                }
            }
        }
        let why = if last.is_empty() { "programs do not start there".to_owned() } else { last };
        Err(EnvError::Unreachable { environment: self.name.to_string(), why })
    }

    /// Lets go of it if nobody uses it.
    pub(super) async fn close_idle(&self) -> bool {
        let mut opened = self.opened.lock().await;
        if self.idle.in_use() {
            return false;
        }
        // What runs in the background uses it too.
        if let Some(opened) = opened.clone()
            && self.has_running_jobs(&opened).await
        {
            return false;
        }
        // What stands on our lifeline goes first.
        *opened = None;
        let _ = self.reach.close(Close::Idle).await;
        true
    }
}

impl Environment for Far {
    fn name(&self) -> &str {
        &self.name
    }

    fn spawn(&self, permit: Permit<Exec>, start: Start) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        Box::pin(async move {
            let using = self.idle.using();
            let (only, more) = match &start.variables {
                Variables::UsualAnd(more) => (false, more),
                Variables::Only(these) => (true, these),
            };
            let variables: Vec<(String, String)> = more
                .iter()
                .map(|(name, value)| {
                    (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
                })
                .collect();
            let workdir = permit.command().workdir.clone();
            let (process, _, _) = self
                .begin(|opened| {
                    let terminal = matches!(start.streams, Streams::Terminal(_));
                    let mut words = opened.facts.shell_words(terminal, start.script);
                    words.extend(start.arguments.iter().cloned());
                    words.extend(pieces(&permit.command().text).map(str::to_owned));
                    Wanted {
                        words,
                        variables: variables.clone(),
                        only,
                        request: None,
                        left: String::new(),
                        tell: String::new(),
                        unwanted: String::new(),
                        directory: opened.facts.expanded(&workdir),
                        input: start.input.clone(),
                        streams: start.streams,
                        output: Arc::clone(&start.output),
                        mark: opened.fresh_mark(),
                    }
                })
                .await?;
            drop(using);
            Ok(Box::new(process) as Box<dyn Process>)
        })
    }
}

impl Workplace for Far {
    fn run(&self, permit: Permit<Exec>, run: Run) -> BoxFuture<'_, Result<Ran, EnvError>> {
        Box::pin(self.run_command(permit, run))
    }

    fn run_script(&self, permit: Permit<Exec>, script: Script) -> BoxFuture<'_, Result<ScriptRan, EnvError>> {
        Box::pin(self.run_calling(permit, script))
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        Some(self)
    }

    fn is_open(&self) -> bool {
        self.opened.try_lock().is_none_or(|opened| opened.is_some())
    }

    fn look(&self) -> BoxFuture<'_, Result<String, EnvError>> {
        Box::pin(async move {
            let opened = self.opened().await?;
            Ok(opened.facts.words_for_people())
        })
    }

    fn close(&self, everything: bool) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(async move {
            *self.opened.lock().await = None;
            self.reach.close(if everything { Close::Remove } else { Close::Idle }).await
        })
    }

    fn shell(&self) -> BoxFuture<'_, Result<Vec<OsString>, EnvError>> {
        Box::pin(async move {
            self.opened().await?;
            self.reach.shell().ok_or(EnvError::NoShell)
        })
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.idle.end();
        self.jobs.end();
        if self.opened.get_mut().take().is_some() {
            // Waited for here: a moment later there may be nobody left to do it.
            let _ = hermes_core::wait::wait(self.reach.close(Close::Leave));
        }
    }
}
