//! A far place in use: opened when it is first needed, closed when nobody has needed it for a while.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{
    EnvError, Environment, Held, Input, Overflow, Process, Ran, Run, Screen, Script, ScriptRan, Start,
    Streams, Tell, Variables, Way, Workplace,
};
use hermes_core::host::Host;
use hermes_core::jobs::Jobs;
use hermes_core::permit::{Exec, Permit};

use crate::backends::Surroundings;
use crate::far::claims::Claim;
use crate::far::facts::Facts;
use crate::far::giving::Given;
use crate::far::idle::Idle;
use crate::far::jobs::FarJobs;
use crate::far::lane::Lanes;
use crate::far::process::{FarProcess, Ignored, NotStarted, Wanted};
use crate::far::progress::Waiting;
use crate::far::scripts::STOP;
use crate::far::talk::Talk;
use crate::far::{Call, Close, Reach, Ready};
use crate::process::secret_word;
use crate::shelf::Shelf;
use crate::shell::script::pieces;

/// How long what was changed there may take to come back at the very end.
const LAST: Duration = Duration::from_secs(30);

/// A shell for a person, in the directory of the first argument if there is one.
const SHELL: &str = r#"cd -- "$1" 2>/dev/null
if command -v bash >/dev/null 2>&1; then exec bash -l; else exec "${SHELL:-sh}" -l; fi
"#;

/// How a far place is used.
#[derive(Clone)]
pub struct FarSettings {
    /// Its name, for people.
    pub name: String,
    /// By which what is ours there is known again, by us alone.
    pub owner: String,
    /// Whether the user's start-up files there are read, once.
    pub login: bool,
    /// Where sessions begin there; `~` is the home there.
    pub cwd: PathBuf,
    /// Closed when nobody used it for this long.
    pub lifetime: Duration,
    /// Keeps the whole of outputs that are too long.
    pub overflow: Option<Arc<dyn Overflow>>,
}

impl FarSettings {
    /// For a place that is used without anything around it.
    pub(crate) fn alone(around: &Surroundings) -> Self {
        let (name, owner) = (around.name.clone(), around.owner.clone());
        let (cwd, lifetime) = (PathBuf::from("~"), Duration::ZERO);
        Self { name, owner, login: false, cwd, lifetime, overflow: None }
    }
}

/// A far place.
pub(crate) struct Far {
    pub(super) name: Arc<str>,
    pub(super) reach: Arc<dyn Reach>,
    pub(super) host: Arc<dyn Host>,
    pub(super) settings: FarSettings,
    opened: futures::lock::Mutex<Option<Arc<Opened>>>,
    /// Held as long as it is open, where other programs of this home may use it too.
    pub(super) claimed: Mutex<Vec<Claim>>,
    pub(super) idle: Arc<Idle>,
    pub(super) jobs: Arc<FarJobs>,
    /// What it is given of this machine.
    pub(super) shelf: Option<Shelf>,
    pub(super) waiting: Arc<Waiting>,
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
    /// What it was given of this machine.
    pub(super) given: Given,
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
    pub(crate) fn new(
        reach: Arc<dyn Reach>,
        settings: FarSettings,
        host: Arc<dyn Host>,
        shelf: Option<Shelf>,
        waiting: Arc<Waiting>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            name: settings.name.as_str().into(),
            reach,
            settings,
            opened: futures::lock::Mutex::new(None),
            claimed: Mutex::default(),
            idle: Arc::default(),
            jobs: Arc::default(),
            shelf,
            waiting,
            me: Weak::clone(me),
            host,
        })
    }

    /// The place, made ready if it is not.
    pub(super) async fn opened(&self) -> Result<Arc<Opened>, EnvError> {
        let known = self.opened.lock().await.clone();
        if let Some(opened) = known {
            self.give(&opened.given, &opened.facts, &opened.notes).await;
            return Ok(opened);
        }
        let mut opened = self.opened.lock().await;
        if let Some(opened) = &*opened {
            return Ok(Arc::clone(opened));
        }
        let (ready, facts, given) = self.claimed_ready().await?;
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
            given,
            _lifeline: lifeline,
        });
        self.give(&fresh.given, &fresh.facts, &fresh.notes).await;
        *opened = Some(Arc::clone(&fresh));
        self.idle.watch(&self.me, &self.host, self.settings.lifetime);
        drop(opened);
        self.find_jobs_again(&fresh);
        Ok(fresh)
    }

    /// Makes it ready and looks at it. One that was to mount files of this machine and has mounted
    /// something else (its engine sees another machine's) is made again without.
    pub(super) async fn made_ready(&self) -> Result<(Ready, Facts, Given), EnvError> {
        let mark = self.mirrored().await;
        let ready = self.reach.ready().await?;
        let mut facts = self.facts().await?;
        let has = std::mem::take(&mut facts.given);
        let mounts = self.reach.mounts() && facts.mounted;
        if mounts && mark.is_some_and(|mark| mark == has.how) {
            return Ok((ready, facts, Given::found(has, true)));
        }
        if !mounts {
            return Ok((ready, facts, Given::found(has, false)));
        }
        self.reach.mount_nothing();
        let again = self.reach.ready().await?;
        let mut facts = self.facts().await?;
        let has = std::mem::take(&mut facts.given);
        let mut notes = ready.notes;
        notes.extend(again.notes);
        notes
            .push("it does not see files of this machine: skills and credential files are copied".to_owned());
        Ok((Ready { identity: again.identity, notes }, facts, Given::found(has, false)))
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

    /// A shell for a person, in a terminal.
    fn shell_for(&self, opened: &Arc<Opened>, screen: &Screen) -> Wanted {
        let directory = opened.facts.expanded(&self.settings.cwd);
        Wanted {
            words: ["sh", "-c", SHELL, "hermes", &directory].map(str::to_owned).to_vec(),
            variables: Vec::new(),
            only: false,
            request: None,
            left: String::new(),
            tell: String::new(),
            unwanted: String::new(),
            // A directory that is not there is no reason to stay outside.
            directory: String::new(),
            input: Input::Open,
            streams: Streams::Terminal(screen.size),
            output: Arc::clone(&screen.output),
            mark: opened.fresh_mark(),
        }
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
        if let Some(opened) = opened.clone() {
            self.bring_back(&opened).await;
        }
        // What stands on our lifeline goes first.
        *opened = None;
        let _ = self.let_go(Close::Idle).await;
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

    fn home(&self) -> Option<PathBuf> {
        let opened = self.opened.try_lock()?;
        opened.as_ref().map(|opened| PathBuf::from(&opened.facts.home)).filter(|home| home.is_absolute())
    }

    fn look(&self) -> BoxFuture<'_, Result<String, EnvError>> {
        Box::pin(async move {
            let opened = self.opened().await?;
            Ok(opened.facts.words_for_people())
        })
    }

    fn close(&self, everything: bool) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(async move {
            let opened = self.opened.lock().await.take();
            if let Some(opened) = &opened {
                self.bring_back(opened).await;
            }
            drop(opened);
            self.let_go(if everything { Close::Remove } else { Close::Idle }).await
        })
    }

    fn shell(&self, screen: Screen) -> BoxFuture<'_, Result<Way, EnvError>> {
        Box::pin(async move {
            let using = Box::new(self.idle.using());
            self.opened().await?;
            if let Some(words) = self.reach.shell() {
                return Ok(Way::Program(words, using));
            }
            let (process, _, _) = self.begin(|opened| self.shell_for(opened, &screen)).await?;
            Ok(Way::Talk(Box::new(process), using))
        })
    }

    fn listen(&self, tell: Tell) -> Option<Held> {
        Some(self.waiting.listen(tell))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.idle.end();
        self.jobs.end();
        if let Some(opened) = self.opened.get_mut().take() {
            // Waited for here: a moment later there may be nobody left to do it.
            hermes_core::wait::wait_at_most(self.bring_back(&opened), LAST, &self.host);
            drop(opened);
            let _ = hermes_core::wait::wait(self.let_go(Close::Leave));
        }
    }
}
