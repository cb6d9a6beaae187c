//! The life of a server: started when it is first needed, watched, let go, started again.
//!
//! Whoever needs it while it starts joins the one start. Only failures of the connection count
//! against it; a tool that answers with an error is a server that works.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt as _, Shared, select};
use hermes_core::host::Host;
use rmcp::service::{RoleClient, RunningService};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::Outside;
use super::config::ServerConfig;
use super::connect;
use super::handler::Client;
use super::keep::Noted;
use super::known::Known;
use super::lane::Lane;
use super::log::Log;
use crate::launch::Keeper;

/// Failures in a row after which a server is left alone for a while, also by calls.
const OPEN_AFTER: u32 = 3;

/// Failures in a row after which it is started by calls only.
const GIVEN_UP_AFTER: u32 = 6;

/// How long it is then left alone, each time.
const LEFT_ALONE: Duration = Duration::from_mins(1);

/// A server that lasted so long works, also when nobody asked it anything.
const PROVEN: Duration = Duration::from_mins(1);

/// How long a program has to end by itself once there is nothing more for it to read, before it is asked to.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long a server has to end once it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How long a server is left alone after so many failures in a row.
fn pause(failures: u32) -> Duration {
    if failures >= GIVEN_UP_AFTER { LEFT_ALONE } else { Duration::from_secs(1 << failures.saturating_sub(1)) }
}

/// A configured server. Clones are the same one; with the last of them it ends.
#[derive(Clone)]
pub struct Server {
    pub(super) inner: Arc<Inner>,
    _guard: Arc<DropGuard>,
}

pub(super) struct Inner {
    pub(super) config: ServerConfig,
    /// Fingerprint of the configuration, made once: it is compared at every look at the tools.
    pub(super) identity: String,
    pub(super) outside: Arc<Outside>,
    pub(super) log: Arc<Log>,
    pub(super) noted: Mutex<Noted>,
    pub(super) generation: AtomicU64,
    life: Mutex<Life>,
    pub(super) tasks: TaskTracker,
    /// What it is still to be told about calls that nobody waits for any more.
    pub(super) parting: TaskTracker,
    pub(super) stop: CancellationToken,
}

#[derive(Default)]
pub(super) struct Life {
    pub(super) live: Option<Arc<Live>>,
    pub(super) starting: Option<Starting>,
    /// Failures of the connection since it last worked: answered a call, or lasted for a while.
    failures: u32,
    trouble: Option<Trouble>,
    /// Not before this moment is it tried again.
    not_before: Duration,
    /// Somebody sees to it that it comes back.
    returning: bool,
}

type Starting = Shared<BoxFuture<'static, Result<Arc<Live>, Trouble>>>;

/// A connection that works.
pub(super) struct Live {
    pub(super) service: RunningService<RoleClient, Arc<Client>>,
    pub(super) client: Arc<Client>,
    pub(super) keeper: Option<Box<dyn Keeper>>,
    /// The pipes of a program on this machine.
    pub(super) pipes: Option<Arc<Lane>>,
    /// The short way for calls, where there is one.
    pub(super) lane: Option<Arc<Lane>>,
    /// Fires when the other side is gone.
    pub(super) gone: CancellationToken,
    /// Fires when nothing is under way over the network any more, where that is how it is asked.
    pub(super) quiet: Option<CancellationToken>,
    /// A call was given up: perhaps the whole server hangs.
    pub(super) doubt: Notify,
    pub(super) since: Duration,
    pub(super) used: Mutex<Duration>,
    pub(super) busy: AtomicUsize,
    pub(super) parting: TaskTracker,
    pub(super) host: Arc<dyn Host>,
    pub(super) handle: Handle,
}

/// Why a server cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// Somebody has to log in.
    #[error("{0}")]
    Login(String),
}

/// How a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It is switched off.
    Disabled,
    /// It is known and will be started when it is needed.
    Ready,
    /// Nothing is known of it yet.
    New,
    /// It is starting.
    Starting,
    /// It works.
    Connected,
    /// Somebody has to log in.
    NeedsLogin(String),
    /// It does not work.
    Failed(String),
}

impl Status {
    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Ready => "ready",
            Self::New => "new",
            Self::Starting => "starting",
            Self::Connected => "connected",
            Self::NeedsLogin(_) => "needs login",
            Self::Failed(_) => "failed",
        }
    }
}

impl Server {
    /// Reads what is known of it; starts nothing.
    pub fn new(config: ServerConfig, outside: Arc<Outside>) -> Self {
        let noted = Noted::read(outside.vault.as_ref(), &config.name);
        let log = Arc::new(Log::new(&config.name, Arc::clone(&outside.vault), Arc::clone(&outside.host)));
        let stop = CancellationToken::new();
        let inner = Inner {
            noted: Mutex::new(noted),
            identity: config.identity(),
            config,
            outside,
            log,
            generation: AtomicU64::new(1),
            life: Mutex::default(),
            tasks: TaskTracker::new(),
            parting: TaskTracker::new(),
            stop: stop.clone(),
        };
        Self { inner: Arc::new(inner), _guard: Arc::new(stop.drop_guard()) }
    }

    /// What the configuration says.
    pub fn config(&self) -> &ServerConfig {
        &self.inner.config
    }

    /// What is known of it.
    pub fn known(&self) -> Arc<Known> {
        self.inner.known()
    }

    /// Whether its tools are known, as it is configured now.
    pub fn is_known(&self) -> bool {
        self.inner.known().identity == self.inner.identity
    }

    /// Whether it was started before, as it is configured now, and did not say in time what it offers.
    pub fn was_late(&self) -> bool {
        self.inner.known().tried == self.inner.identity
    }

    /// Remembers that it did not say in time what it offers, unless it has by now.
    pub fn is_late(&self) {
        if !self.is_known() {
            self.inner.late();
        }
    }

    /// Counts the changes of what it offers.
    pub fn generation(&self) -> u64 {
        self.inner.generation.load(Ordering::Acquire)
    }

    /// How it stands now.
    pub fn status(&self) -> Status {
        if !self.inner.config.enabled {
            return Status::Disabled;
        }
        let state = self.inner.life();
        match (&state.live, &state.starting, &state.trouble) {
            (_, Some(_), _) => Status::Starting,
            (_, _, Some(Trouble::Login(why))) => Status::NeedsLogin(why.clone()),
            (Some(live), ..) if !live.gone.is_cancelled() => Status::Connected,
            (_, _, Some(Trouble::Unreachable(why))) => Status::Failed(why.clone()),
            _ if self.is_known() => Status::Ready,
            _ => Status::New,
        }
    }

    /// Starts it, unless it runs; ends when it works or does not.
    pub async fn start(&self) -> Result<(), Trouble> {
        self.inner.live().await.map(drop)
    }

    /// The process number of the program, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.inner.life().live.as_ref()?.keeper.as_ref().map(|keeper| keeper.pid())
    }

    /// Waits until it was told of every call that nobody waits for any more.
    pub async fn settled(&self) {
        let parting = &self.inner.parting;
        parting.close();
        parting.wait().await;
        parting.reopen();
    }

    /// Lets it go; the next call starts it again.
    pub async fn close(&self) {
        let live = self.inner.life().live.take();
        if let Some(live) = live {
            live.close().await;
        }
    }
}

impl Inner {
    pub(super) fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that works; starts one if there is none.
    pub(super) async fn live(self: &Arc<Self>) -> Result<Arc<Live>, Trouble> {
        let starting = {
            let mut state = self.life();
            match &state.live {
                Some(live) if live.is_there() => return Ok(Arc::clone(live)),
                _ => {}
            }
            let now = self.outside.host.now();
            if let Some(starting) = &state.starting {
                starting.clone()
            } else {
                if state.failures >= OPEN_AFTER && now < state.not_before {
                    let wait = state.not_before.saturating_sub(now).as_secs() + 1;
                    let why = state.trouble.as_ref().map(ToString::to_string).unwrap_or_default();
                    let count = state.failures;
                    return Err(Trouble::Unreachable(format!(
                        "it failed {count} times in a row and is left alone for {wait} s more; the last time: {why}"
                    )));
                }
                let starting = self.begin()?;
                state.starting = Some(starting.clone());
                starting
            }
        };
        starting.await
    }

    /// Begins to start it, on the runtime: whoever waits may stop waiting without stopping it.
    fn begin(self: &Arc<Self>) -> Result<Starting, Trouble> {
        let no_runtime = || Trouble::Unreachable("there is no runtime to talk to it in".to_owned());
        let handle = (self.outside.runtime)().ok_or_else(no_runtime)?;
        let (own, on) = (Arc::clone(self), handle.clone());
        let task = self.tasks.spawn_on(async move { own.started(on).await }, &handle);
        let lost = |_| Err(Trouble::Unreachable("its start was given up".to_owned()));
        Ok(task.map(move |ended| ended.unwrap_or_else(lost)).boxed().shared())
    }

    /// Starts it and writes down what came of it.
    async fn started(self: Arc<Self>, handle: Handle) -> Result<Arc<Live>, Trouble> {
        let limit = self.outside.host.sleep(self.config.connect_timeout);
        let talks = AtomicBool::new(false);
        let connecting = Box::pin(connect::connect(&self, handle.clone(), &talks));
        let stopped = Box::pin(self.stop.cancelled());
        let made = match select(connecting, select(limit, stopped)).await {
            Either::Left((made, _)) => made,
            Either::Right((Either::Left(_), connecting)) => {
                drop(connecting);
                let said = self.log.last().map(|line| format!("; it last said: {line}")).unwrap_or_default();
                let limit = self.config.connect_timeout.as_secs_f32();
                let missed = if talks.load(Ordering::Acquire) {
                    "it began to talk, and did not list its tools"
                } else {
                    "it did not begin to talk"
                };
                Err(Trouble::Unreachable(format!("{missed} within {limit} s{said}")))
            }
            Either::Right((Either::Right(_), _)) => {
                Err(Trouble::Unreachable("it is no longer wanted".to_owned()))
            }
        };
        let made = made.map_err(|trouble| self.cleared(trouble)).map(|(live, known)| {
            if let Err(why) = self.keep(&known) {
                self.log.line(&format!("[what it offers could not be written down: {why}]"));
            }
            Arc::new(live)
        });
        let mut state = self.life();
        state.starting = None;
        match made {
            Ok(live) => {
                state.live = Some(Arc::clone(&live));
                state.trouble = None;
                drop(state);
                self.tasks.spawn_on(Arc::clone(&self).mind(Arc::clone(&live)), &handle);
                self.tasks.spawn_on(connect::hear_changes(Arc::clone(&live)), &handle);
                Ok(live)
            }
            Err(trouble) => {
                self.failed(&mut state, trouble.clone());
                drop(state);
                // One that was not waited for to the end has not failed.
                if !self.stop.is_cancelled() {
                    self.remember(Some(&trouble));
                    // What is known of it is offered all the same, and the next call tries again.
                    if self.known().identity != self.identity && matches!(trouble, Trouble::Unreachable(_)) {
                        self.come_back(&handle);
                    }
                }
                Err(trouble)
            }
        }
    }

    /// Why it cannot be asked, in words that can be kept and shown: it may have put a secret into them.
    fn cleared(&self, trouble: Trouble) -> Trouble {
        let cleared = |why: String| self.outside.vault.cleared(&why);
        match trouble {
            Trouble::Login(why) => Trouble::Login(cleared(why)),
            Trouble::Unreachable(why) => Trouble::Unreachable(cleared(why)),
        }
    }

    fn failed(&self, state: &mut Life, trouble: Trouble) {
        state.failures = state.failures.saturating_add(1);
        state.not_before = self.outside.host.now() + pause(state.failures);
        state.trouble = Some(trouble);
    }

    /// A connection does not work any more: it is let go, and counted.
    pub(super) fn lost(&self, live: &Arc<Live>, why: &str) {
        let mut state = self.life();
        if state.live.as_ref().is_some_and(|known| Arc::ptr_eq(known, live)) {
            state.live = None;
            if self.outside.host.now().saturating_sub(live.since) >= PROVEN {
                state.failures = 0;
            }
            self.failed(&mut state, self.cleared(Trouble::Unreachable(why.to_owned())));
        }
        live.gone.cancel();
    }

    /// A request failed below the protocol. A pipe is then of no more use; over the network every request
    /// has a connection of its own, and whether the others have a chance is found out by asking.
    pub(super) fn shaken(&self, live: &Arc<Live>, why: &str) {
        if live.is_remote() { live.doubt.notify_one() } else { self.lost(live, why) }
    }

    /// Sees to it that it is started again, later each time, a few times.
    pub(super) fn come_back(self: &Arc<Self>, handle: &Handle) {
        if !std::mem::replace(&mut self.life().returning, true) {
            self.tasks.spawn_on(Arc::clone(self).bring_back(), handle);
        }
    }

    /// How long until it is started again without anybody asking; nothing when it is not, and then
    /// nobody sees to it any more.
    pub(super) fn comes_back_in(&self) -> Option<Duration> {
        let mut state = self.life();
        let login = matches!(state.trouble, Some(Trouble::Login(_)));
        let idle = state.live.is_none() && state.starting.is_none();
        state.returning = idle && !login && state.failures < GIVEN_UP_AFTER;
        let wait = state.not_before.saturating_sub(self.outside.host.now());
        state.returning.then(|| wait.max(Duration::from_millis(100)))
    }

    /// Somebody has to log in before it can be asked again.
    pub(super) fn login_needed(&self, why: &str) {
        let trouble = self.cleared(Trouble::Login(why.to_owned()));
        self.life().trouble = Some(trouble.clone());
        self.remember(Some(&trouble));
    }

    /// It has answered: whoever had to log in has done so.
    pub(super) fn answered(&self) {
        let mut state = self.life();
        state.failures = 0;
        if matches!(state.trouble, Some(Trouble::Login(_))) {
            state.trouble = None;
            drop(state);
            self.remember(None);
        }
    }
}

impl Live {
    /// Whether it is asked over the network.
    pub(super) fn is_remote(&self) -> bool {
        self.keeper.is_none()
    }

    /// Whether it can be asked.
    fn is_there(&self) -> bool {
        !self.gone.is_cancelled() && !self.service.is_transport_closed()
    }

    /// Ends it: a program by the end of what it reads, then politely, then by force.
    pub(super) async fn close(&self) {
        self.gone.cancel();
        self.service.cancellation_token().cancel();
        if let Some(keeper) = &self.keeper {
            let ended = Box::pin(async {
                if let Some(pipes) = &self.pipes {
                    pipes.hang_up().await;
                }
                keeper.ended().await;
            });
            drop(select(ended, self.host.sleep(LAST_WORDS)).await);
            // Also when it has ended: what it started may be there still.
            keeper.stop(GRACE).await;
        }
        if let Some(quiet) = &self.quiet {
            // The session at the server is ended before the connection is.
            drop(select(Box::pin(quiet.cancelled()), self.host.sleep(GRACE)).await);
        }
    }
}
