//! What a running tool sees: its call, its session's state, the environment, and the services it may ask.
//!
//! A tool never reads the process environment, the clock or the disk by itself. What it may touch
//! it declared as effects, and the permits it gets here cover those and nothing else.

mod files;
mod web;

use std::any::Any;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Brief, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures::lock::{Mutex, MutexGuard};
use futures::task::AtomicWaker;
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::checkpoint::Checkpoints;
use crate::definitions::Toolbox;
use crate::effect::Command;
use crate::environment::{Environments, There, Workplace};
use crate::error::ToolError;
use crate::extensions::Extensions;
use crate::files::Files;
use crate::hook::told_id;
use crate::host::Host;
use crate::keys::Keys;
use crate::permit::{Clearance, Connect, Exec, Permit, Write};
use crate::road::{Caller, Road};
use crate::session::{Place, Session, Slot};
use crate::watch::Watcher;
use crate::web::Web;

pub use files::{Applied, PermittedFiles};
pub use web::PermittedWeb;

/// The context of one running call. Clones belong to the same call.
#[derive(Clone)]
pub struct ToolCx(Arc<Inner>);

struct Inner {
    call: CallId,
    running: Running,
    /// How many calls it has made itself.
    placed: AtomicU64,
    /// Held by the one of those calls that is being judged.
    judged: Mutex<()>,
    /// Held by the one of them that writes.
    writing: Mutex<()>,
    /// When it was sent to where it runs.
    sent: OnceLock<Duration>,
    /// Wakes whoever waits for that.
    waits: AtomicWaker,
    /// What went wrong beside the call itself.
    notes: Brief<Vec<String>>,
}

/// Most notes that one call leaves: a stranger may be the cause of each.
const MAX_NOTES: usize = 8;

/// What a context is made of.
pub(crate) struct Running {
    /// The caller's id of the call; empty when it gave none.
    pub(crate) given_id: String,
    pub(crate) tool: Arc<str>,
    pub(crate) session: Session,
    pub(crate) clearance: Clearance,
    /// The environment it works in.
    pub(crate) environment: Arc<str>,
    /// The same, when its files are not those of this machine.
    pub(crate) there: Option<Arc<str>>,
    pub(crate) road: Road,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) within: Option<CallId>,
    pub(crate) cancel: CancellationToken,
}

/// The doors and services that tools share.
pub struct Services {
    /// Clock, timer and threads.
    pub host: Arc<dyn Host>,
    /// Files of the environment.
    pub files: Arc<dyn Files>,
    /// Where commands run.
    pub environments: Environments,
    /// Keeps what files held before they are changed, if anything does.
    pub checkpoints: Option<Arc<dyn Checkpoints>>,
    others: Extensions,
}

impl Services {
    /// The two that are always there.
    pub fn new(host: Arc<dyn Host>, files: Arc<dyn Files>) -> Self {
        Self {
            host,
            files,
            environments: Environments::default(),
            checkpoints: None,
            others: Extensions::default(),
        }
    }

    /// Adds the places where commands run.
    pub fn environments(mut self, environments: Environments) -> Self {
        self.environments = environments;
        self
    }

    /// Adds a service that tools can ask for by its type.
    pub fn with<T: Any + Send + Sync>(mut self, service: T) -> Self {
        self.others.insert(service);
        self
    }

    /// A service of this type, if there is one.
    pub fn service<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.others.get()
    }
}

impl ToolCx {
    pub(crate) fn new(running: Running) -> Self {
        let call = running.clearance.call().clone();
        Self(Arc::new(Inner {
            call,
            running,
            placed: AtomicU64::new(0),
            judged: Mutex::new(()),
            writing: Mutex::new(()),
            sent: OnceLock::new(),
            waits: AtomicWaker::new(),
            notes: Brief::default(),
        }))
    }

    /// This call's id.
    pub fn call(&self) -> &CallId {
        &self.0.call
    }

    /// The id that foreign programs know this call by, be they hooks or the tool itself.
    pub fn told_id(&self) -> &str {
        told_id(&self.0.running.given_id, &self.0.call)
    }

    /// The name the tool is registered under.
    pub fn tool(&self) -> &str {
        &self.0.running.tool
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        self.0.running.session.id()
    }

    /// How many turns of the session there were before this one.
    pub fn turn(&self) -> u64 {
        self.0.running.session.turn()
    }

    /// The environment this call works in.
    pub fn environment(&self) -> &str {
        &self.0.running.environment
    }

    /// Whether the files of this call are not those of this machine.
    pub fn is_elsewhere(&self) -> bool {
        self.0.running.there.is_some()
    }

    /// Where the session stands now, in the environment of this call.
    pub fn place(&self) -> Arc<Place> {
        let session = &self.0.running.session;
        match self.there() {
            Some((name, there)) => session.place_in(name, &there.first),
            None => session.place(),
        }
    }

    /// The session goes to another directory of that environment.
    pub fn move_to(&self, cwd: &Path) {
        let session = &self.0.running.session;
        match self.there() {
            Some((name, _)) => session.move_in(name, cwd),
            None => session.move_to(cwd),
        }
    }

    fn there(&self) -> Option<(&str, &There)> {
        let name = self.0.running.there.as_deref()?;
        Some((name, self.services().environments.site(name).ok()?.there.as_ref()?))
    }

    fn own_files(&self) -> &dyn Files {
        match self.there() {
            Some((_, there)) => there.files.as_ref(),
            None => self.services().files.as_ref(),
        }
    }

    /// Tells whoever looks on how far the call is, in a few words.
    pub fn progress(&self, words: &str) {
        if let Some(watcher) = self.0.running.session.extensions().get::<Arc<dyn Watcher>>() {
            watcher.progress(self.call(), words);
        }
    }

    /// Leaves a note for the person, which is no part of what the model reads: something went otherwise than
    /// they may expect. It is told once, when the call is over.
    pub fn note(&self, words: String) {
        let mut notes = self.0.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_NOTES && !notes.contains(&words) {
            notes.push(words);
        }
    }

    /// The notes it has left so far.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Clock, timer and threads.
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.services().host
    }

    /// Says that the call is on its way to where it runs: from now on its time counts, and it may have run.
    pub fn sent(&self) {
        self.0.sent.get_or_init(|| self.host().now());
        self.0.waits.wake();
    }

    /// Waits until it is sent. For one who waits.
    pub(crate) fn until_sent(&self) -> impl Future<Output = ()> + Unpin + '_ {
        poll_fn(|cx| {
            self.0.waits.register(cx.waker());
            if self.sent_at().is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    /// When it was first sent, if it was.
    pub(crate) fn sent_at(&self) -> Option<Duration> {
        self.0.sent.get().copied()
    }

    /// Fires when the call should stop.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.0.running.cancel
    }

    /// The running call that made this one, such as a script's; a call of the model has none.
    pub fn within(&self) -> Option<&CallId> {
        self.0.running.within.as_ref()
    }

    /// The way for this call to make calls of its own. One that was made so itself gets none, and neither does
    /// a tool that does not look around.
    pub fn caller(&self) -> Option<Caller> {
        (self.within().is_none() && self.looks_around()).then(|| Caller::new(self.clone()))
    }

    /// Whether its tool has said that it looks at others: where only one is called, others may not be there.
    fn looks_around(&self) -> bool {
        let Running { tool, toolbox, .. } = &self.0.running;
        toolbox.find(tool).is_some_and(|it| it.entry().looks_around())
    }

    pub(crate) fn parts(&self) -> (&Road, &Session, &Arc<Toolbox>) {
        let Running { road, session, toolbox, .. } = &self.0.running;
        (road, session, toolbox)
    }

    /// The id of the next call that this one makes.
    pub(crate) fn next_inner_id(&self) -> CallId {
        let number = self.0.placed.fetch_add(1, Ordering::Relaxed) + 1;
        CallId::from(format!("{}/{number}", self.call()))
    }

    /// The right to be the one call of ours that is being judged.
    pub(crate) async fn being_judged(&self) -> MutexGuard<'_, ()> {
        self.0.judged.lock().await
    }

    /// The right to be the one call of ours that writes.
    pub(crate) async fn writing(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().await
    }

    fn services(&self) -> &Services {
        self.0.running.road.services()
    }

    /// A service of this type: the session's own, or else the composition root's.
    pub fn service<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.running.session.extensions().get().or_else(|| self.services().service())
    }

    /// Uses this tool's state in the session.
    pub fn with_slot<S: Slot, R>(&self, use_it: impl FnOnce(&mut S) -> R) -> Result<R, ToolError> {
        self.0
            .running
            .session
            .with_slot(use_it)
            .ok_or_else(|| ToolError::NeedsSession(self.0.running.tool.to_string()))
    }

    /// The files of its environment, as far as this call may use them.
    pub fn files(&self) -> PermittedFiles<'_> {
        PermittedFiles { cx: self }
    }

    /// The tools that are offered beside this one, and the toolset of each; none for a tool that does not look
    /// around.
    pub fn offered(&self) -> Vec<(&str, &str)> {
        if !self.looks_around() {
            return Vec::new();
        }
        let toolbox = &self.0.running.toolbox;
        let all = toolbox.offered().iter().chain(toolbox.deferred());
        all.map(|tool| (tool.name().as_ref(), tool.entry().toolset().as_ref())).collect()
    }

    /// Permission to write a declared path.
    pub fn may_write(&self, path: &Path) -> Result<Permit<Write>, ToolError> {
        self.0.running.clearance.write(path)
    }

    /// Permission to run the declared command.
    pub fn may_run(&self, command: &Command) -> Result<Permit<Exec>, ToolError> {
        self.0.running.clearance.exec(command)
    }

    /// Permission to run the one command this call declared, just as it was declared.
    pub fn may_run_declared(&self) -> Result<Permit<Exec>, ToolError> {
        self.0.running.clearance.declared_exec()
    }

    /// The place where a permitted command runs.
    pub fn workplace(&self, permit: &Permit<Exec>) -> Result<Arc<dyn Workplace>, ToolError> {
        Ok(self.services().environments.find(&permit.command().environment)?)
    }

    /// The places where commands run.
    pub fn environments(&self) -> &Environments {
        &self.services().environments
    }

    /// Keeps a long text where the model can read on, under a name of this call's own; nowhere if
    /// nothing is kept here.
    pub async fn keep(&self, name: &str, text: String) -> Option<PathBuf> {
        let spill = self.0.running.road.spilling()?;
        spill.keep(self.session_id(), &format!("{}-{name}", self.call()), text).await.ok()
    }

    /// Keys and settings of the person.
    pub fn keys(&self) -> Result<&dyn Keys, ToolError> {
        let keys = self.service::<Arc<dyn Keys>>().map(AsRef::as_ref);
        keys.ok_or_else(|| ToolError::Failed("there are no settings here".to_owned()))
    }

    /// The network, as far as this call may use it.
    pub fn web(&self) -> Result<PermittedWeb<'_>, ToolError> {
        let web = self.service::<Arc<dyn Web>>().map(AsRef::as_ref);
        let web = web.ok_or_else(|| ToolError::Failed("there is no network here".to_owned()))?;
        Ok(PermittedWeb { cx: self, web })
    }

    /// Permission to connect to a declared host.
    pub fn may_connect(&self, host: &str) -> Result<Permit<Connect>, ToolError> {
        self.0.running.clearance.connect(host)
    }
}
