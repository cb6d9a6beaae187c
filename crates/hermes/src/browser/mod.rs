//! Browsers for the tools: started here behind a gate, or reached where the settings say.
//!
//! | file | what |
//! |---|---|
//! | `rules.rs` | which addresses a page may reach, pure |
//! | `local.rs` | a browser of this machine: its flags, its pipes, its gate, its end |
//! | `remote.rs` | a browser elsewhere, over a web socket |

mod local;
mod remote;
mod rules;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::browser::{ADDRESS, BrowserLine, Browsers, Hears, Hold};
use hermes_core::host::{Host, blocking};
use hermes_core::permit::{Connect, Permit};
use hermes_core::web::WebError;
use hermes_env::peers::Peers;
use hermes_extend::rpc::Tasks;
use hermes_net::Refusals;
use hermes_store::Home;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::DropGuard;

use crate::foreign::tasks::MachineTasks;
use crate::host::Machine;
use crate::web::WorldWeb;
use crate::world::World;

/// How long a browser that nobody uses stays open, if the settings do not say.
const IDLE: Duration = Duration::from_mins(2);

/// Largest message of a browser: the tree of a very large page, or a picture of it.
const MAX_MESSAGE: usize = 128 * 1024 * 1024;

/// Opens browsers by the settings of this world.
pub(crate) struct WorldBrowsers {
    world: Arc<RwLock<World>>,
    machine: Arc<Machine>,
    web: Arc<WorldWeb>,
    home: Option<Home>,
    peers: OnceLock<Peers>,
}

impl WorldBrowsers {
    pub(crate) fn new(
        world: &Arc<RwLock<World>>,
        machine: &Arc<Machine>,
        web: &Arc<WorldWeb>,
        home: Option<Home>,
    ) -> Self {
        Self {
            world: Arc::clone(world),
            machine: Arc::clone(machine),
            web: Arc::clone(web),
            home,
            peers: OnceLock::new(),
        }
    }

    fn look<R>(&self, look: impl FnOnce(&World) -> R) -> R {
        look(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The browser that the settings name, by its address.
    fn named(&self) -> Option<String> {
        self.look(|world| {
            let configured = world.config(ADDRESS.1);
            let configured = configured.as_ref().and_then(serde_json::Value::as_str);
            let address = world.variable(ADDRESS.0).filter(|it| !it.trim().is_empty()).or(configured);
            address.map(str::trim).filter(|address| !address.is_empty()).map(str::to_owned)
        })
    }

    fn idle(&self) -> Duration {
        self.look(|world| {
            let variable = world.variable("BROWSER_INACTIVITY_TIMEOUT").and_then(|it| it.trim().parse().ok());
            let configured = || world.config("browser.inactivity_timeout")?.as_u64();
            variable.or_else(configured).filter(|seconds| *seconds > 0).map_or(IDLE, Duration::from_secs)
        })
    }

    fn start(&self, task: BoxFuture<'static, ()>) -> Result<(), WebError> {
        if MachineTasks(Arc::clone(&self.machine)).start(task) {
            return Ok(());
        }
        Err(WebError::Failed("the system gives us no threads to talk with a browser".to_owned()))
    }
}

impl Browsers for WorldBrowsers {
    fn open(
        &self,
        permit: Permit<Connect>,
        hears: Arc<dyn Hears>,
    ) -> BoxFuture<'_, Result<Arc<dyn BrowserLine>, WebError>> {
        self.web.inside(async move {
            match self.named() {
                Some(address) => remote::open(self, permit, &address, hears).await,
                None => local::open(self, &permit, hears).await,
            }
        })
    }

    fn judge(&self, url: &str) -> Result<(), WebError> {
        if url == "about:blank" {
            return Ok(());
        }
        self.look(|world| rules::judge(world, url))
            .map_err(|why| WebError::Refused { url: url.to_owned(), why })
    }

    fn keep_picture<'a>(
        &'a self,
        session: &'a str,
        name: &'a str,
        png: Vec<u8>,
    ) -> BoxFuture<'a, Option<PathBuf>> {
        Box::pin(async move {
            let host: Arc<dyn Host> = self.machine.clone();
            let place = hermes_store::Spill::open(self.home.as_ref()?, session);
            let name = name.to_owned();
            blocking(&host, move || place.keep_bytes(&name, "png", &png)).await.ok()?.ok()
        })
    }
}

/// The end of a line that tools hold.
struct Line {
    outgoing: UnboundedSender<String>,
    used: Used,
    /// What the gate refuses, where there is a gate.
    refusals: Option<Refusals>,
    /// Ends a browser of ours.
    _stop: Option<DropGuard>,
}

impl BrowserLine for Line {
    fn send(&self, message: String) {
        // What is sent to one that has ended is lost, and whoever waits is told of the end.
        let _ = self.outgoing.send(message);
    }

    fn hold(&self) -> Hold {
        self.used.held.fetch_add(1, Ordering::Relaxed);
        Box::new(Holding(self.used.clone()))
    }

    fn is_ours(&self) -> bool {
        self.refusals.is_some()
    }

    fn refused(&self) -> Vec<String> {
        self.refusals.as_ref().map(Refusals::take).unwrap_or_default()
    }
}

/// When a browser was last used, and by how many it is used now.
#[derive(Clone)]
struct Used {
    host: Arc<dyn Host>,
    at: Arc<AtomicU64>,
    held: Arc<AtomicU64>,
}

impl Used {
    fn new(machine: &Arc<Machine>) -> Self {
        let used = Self { host: machine.clone(), at: Arc::default(), held: Arc::default() };
        used.at.store(millis(used.host.now()), Ordering::Relaxed);
        used
    }

    /// Ends when nobody has used it for so long.
    async fn idle_for(self, limit: Duration) {
        loop {
            let last = Duration::from_millis(self.at.load(Ordering::Relaxed));
            let is_held = self.held.load(Ordering::Relaxed) > 0;
            let left = if is_held { limit } else { (last + limit).saturating_sub(self.host.now()) };
            if left.is_zero() {
                return;
            }
            self.host.sleep(left).await;
        }
    }
}

/// Kept while a browser is used.
struct Holding(Used);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.at.store(millis(self.0.host.now()), Ordering::Relaxed);
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Why a browser that nobody used was closed.
fn unused(limit: Duration) -> String {
    format!("it was closed after {} s without use", limit.as_secs())
}
