//! The tools of MCP servers: what the configuration names, what is known of each, and their lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{Either, join_all, select};
use hermes_core::host::Host;
use hermes_core::names::OF_SERVERS;
use hermes_core::session::Place;
use hermes_core::wait::wait;
use hermes_extend::launch::Launch;
use hermes_extend::mcp::client::{Kept, Misread, Outside, Server, ServerConfig, Status, Transport, Vault};
use hermes_extend::mcp::oauth::{self, Browser, OAuthError, Pasted, Show};
use hermes_extend::mcp::ring::Ring;
use hermes_net::Http;
use hermes_store::McpHome;

pub(crate) use hermes_extend::mcp::oauth::Person;

use super::ahead::{Ahead, Work};
use super::mcp_briefs::Briefs;
use super::mcp_memory::Memory;
use super::mcp_state::State;
use super::mcp_vault::HomeVault;
use super::{Changes, Kind, Sake};
use crate::host::Machine;
use crate::inside::Inside;
use crate::redact::WorldRedact;
use crate::world::World;

/// How long a start waits for servers that were never started before, unless the configuration says
/// otherwise: as long as nobody notices. A server that is later, or fails, is not waited for again.
const WAIT: Duration = Duration::from_millis(250);

/// Names that are listed in one line.
const MOST_NAMES: usize = 10;

/// The MCP servers of a runtime. Clones are the same.
#[derive(Clone)]
pub struct Mcp(Arc<Inner>);

struct Inner {
    outside: Arc<Outside>,
    /// The vault of `outside`, which also knows when anything in it changes.
    vault: Arc<HomeVault>,
    machine: Arc<Machine>,
    /// What an earlier start kept, while it is read beside other work.
    ahead: Ahead<Option<Briefs>>,
    state: Mutex<State>,
}

impl Mcp {
    pub(crate) fn new(
        world: &World,
        machine: &Arc<Machine>,
        place: &Place,
        launcher: Arc<dyn Launch>,
        person: Option<Arc<dyn Person>>,
        secrets: &Arc<WorldRedact>,
    ) -> Self {
        let host: Arc<dyn Host> = machine.clone();
        let vault = Arc::new(HomeVault::of(world.home(), Arc::clone(secrets)));
        let runtime = Arc::downgrade(machine);
        let outside = Outside {
            launcher,
            http: Http::from_env(|name| world.variable(name).map(str::to_owned)),
            host,
            runtime: Box::new(move || runtime.upgrade()?.handle()),
            vault: vault.clone(),
            place: place.clone(),
            person,
            ring: Arc::default(),
            asked: Arc::default(),
        };
        let (outside, machine) = (Arc::new(outside), Arc::clone(machine));
        let (ahead, state) = Default::default();
        Self(Arc::new(Inner { outside, vault, machine, ahead, state }))
    }

    /// How to read what an earlier start kept, beside other work; nothing where there is nothing.
    pub(super) fn look_ahead(&self) -> Option<Work> {
        let vault = Arc::clone(&self.0.vault);
        let any = vault.home().is_some_and(McpHome::has_briefs);
        any.then(|| self.0.ahead.work(move || Briefs::read(&vault)))
    }

    /// Who this runtime is among those that ask each other.
    pub(crate) fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.0.outside.ring)
    }

    /// The servers that are switched on, by name.
    pub fn servers(&self) -> Vec<Server> {
        self.state().servers.values().map(|slot| slot.server.get().clone()).collect()
    }

    /// Those of them that somebody has needed: nothing ever happened to the others.
    fn made(&self) -> Vec<Server> {
        self.state().servers.values().filter_map(|slot| slot.server.made().cloned()).collect()
    }

    /// The servers that are switched off.
    pub fn switched_off(&self) -> Vec<ServerConfig> {
        self.state().others().switched_off.clone()
    }

    /// The servers that cannot be used as they are written.
    pub fn misread(&self) -> Vec<Misread> {
        self.state().others().misread.clone()
    }

    /// What is wrong with `mcp_servers` itself, so that no server can be read from it.
    pub fn wrong_section(&self) -> Vec<String> {
        self.state().others().problems.clone()
    }

    /// A server that is not in the configuration yet. What it says is kept in `told` and nowhere else.
    pub(crate) fn candidate(&self, config: ServerConfig, told: &Arc<Memory>) -> Server {
        let outside = &self.0.outside;
        told.hides(self.0.vault.secrets());
        let machine = Arc::downgrade(&self.0.machine);
        let outside = Outside {
            launcher: Arc::clone(&outside.launcher),
            http: outside.http.clone(),
            host: Arc::clone(&outside.host),
            runtime: Box::new(move || machine.upgrade()?.handle()),
            vault: Arc::clone(told) as Arc<dyn Vault>,
            place: outside.place.clone(),
            person: None,
            ring: Arc::clone(&outside.ring),
            asked: Arc::clone(&outside.asked),
        };
        Server::new(config, Arc::new(outside))
    }

    /// Keeps what a candidate has said, instead of whatever was known of a server of this name.
    pub fn adopt(&self, name: &str, told: &Memory) {
        self.forget(name);
        if let Some(text) = told.read(name, Kept::Known) {
            // What cannot be written is learnt again.
            let _ = self.0.outside.vault.write(name, Kept::Known, &text);
        }
    }

    /// The server of this name, if it is switched on.
    pub fn server(&self, name: &str) -> Option<Server> {
        self.state().servers.get(name).map(|slot| slot.server.get().clone())
    }

    /// Starts every server that nothing is known of, all at once, and waits a moment for those that were
    /// never started before; who is later joins when ready. Says whether anybody was waited for.
    pub async fn ready(&self) -> bool {
        self.start_missing(|_| true).await
    }

    /// The same, from code that just waits.
    pub fn ready_blocking(&self) {
        wait(self.ready());
    }

    /// The same for somebody who looks and leaves: a server that was late before would be ended before it
    /// has said anything, and is not started.
    pub fn ready_to_look_blocking(&self) {
        let waits = self.state().wait.is_some();
        wait(self.start_missing(|server| waits || !server.was_late()));
    }

    async fn start_missing(&self, wanted: impl Fn(&Server) -> bool) -> bool {
        let missing = |server: &Server| is_missing(server) && wanted(server);
        let missing: Vec<Server> = self.made().into_iter().filter(missing).collect();
        if missing.is_empty() {
            return false;
        }
        let asked_for = self.state().wait;
        let mut waited_for = Vec::new();
        for server in &missing {
            let mut start = Box::pin(server.start());
            // Begun by the first look at it, and carried on without anybody who waits.
            let begun = (&mut start).now_or_never().is_none();
            if begun && (asked_for.is_some() || !server.was_late()) {
                waited_for.push(start);
            }
        }
        if waited_for.is_empty() {
            return false;
        }
        // What went wrong is in each server's status.
        let all = Box::pin(join_all(waited_for));
        drop(select(all, self.0.outside.host.sleep(asked_for.unwrap_or(WAIT))).await);
        missing.iter().for_each(Server::is_late);
        true
    }

    /// Which servers are not there, and why, in one line; nothing when all are.
    pub fn news(&self) -> Option<String> {
        let (mut broken, mut closed, mut starting) = (Vec::new(), Vec::new(), Vec::new());
        for server in self.made() {
            let name = server.config().name.clone();
            match server.trouble() {
                None => {}
                Some(Status::Failed(_)) => broken.push(name),
                Some(Status::NeedsLogin(_)) => closed.push(name),
                Some(_) => starting.push(name),
            }
        }
        let part = |names: Vec<String>, one: &str, many: &str| match names.as_slice() {
            [] => None,
            [name] => Some(format!("{name} {one}")),
            names => Some(format!("{} {many}", listed(names))),
        };
        let parts = [
            part(broken, "does not work", "do not work"),
            part(closed, "needs a login", "need a login"),
            part(starting, "is still starting", "are still starting"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("MCP: {}", parts.join("; ")))
    }

    /// Waits until servers were told of calls that nobody waits for any more, but no longer than `limit`.
    pub(crate) fn settle(&self, limit: Duration) {
        let servers = self.made();
        let mut told = Box::pin(join_all(servers.iter().map(Server::settled)));
        // Nearly always there is nothing to tell, and nobody to wait for.
        if (&mut told).now_or_never().is_none() {
            drop(wait(select(told, self.0.outside.host.sleep(limit))));
        }
    }

    /// Tells the servers over the network that their sessions are over; waits no longer than `limit`. For the
    /// end of a program; servers on this machine read the end of their input with it, and nobody waits for them.
    pub(crate) fn end_blocking(&self, limit: Duration) {
        let running = |server: &Server| {
            let remote = !matches!(server.config().transport, Transport::Stdio(_));
            remote && server.status() == Status::Connected
        };
        let servers: Vec<Server> = self.made().into_iter().filter(running).collect();
        if !servers.is_empty() {
            let ended = Box::pin(join_all(servers.iter().map(Server::close)));
            drop(wait(select(ended, self.0.outside.host.sleep(limit))));
        }
    }

    /// Makes sure that a tool is known if it can be: its server is started when nothing is known of it.
    pub async fn ready_for(&self, tool: &str) {
        let meant = |server: &Server| {
            let name = plain(&server.config().name);
            tool.strip_prefix(OF_SERVERS).is_some_and(|rest| rest.starts_with(&name)) && is_missing(server)
        };
        let missing: Vec<Server> = self.made().into_iter().filter(meant).collect();
        join_all(missing.iter().map(Server::start)).await;
    }

    /// The same, from code that just waits.
    pub(crate) fn ready_for_blocking(&self, tool: &str) {
        wait(self.ready_for(tool));
    }

    /// Why a tool that nobody knows may be missing: the server that its name is of does not work, has not said yet
    /// what it offers, is switched off or cannot be read.
    pub(crate) fn why_missing(&self, tool: &str) -> Vec<String> {
        let mut state = self.state();
        let servers = state.servers.values().map(|slot| slot.server.get());
        let mut why: Vec<String> = Vec::new();
        for server in servers.filter(|server| is_of(tool, &server.config().called)) {
            match server.trouble() {
                Some(Status::New | Status::Starting) => {
                    why.extend(unheard(std::slice::from_ref(&server.config().name)));
                }
                _ => why.extend(server.scope().1),
            }
        }
        let others = state.others();
        let off = others.switched_off.iter().filter(|config| is_of(tool, &config.called));
        why.extend(off.map(|config| format!("MCP server `{}` is switched off in config.yaml", config.name)));
        let misread = others.misread.iter().filter(|wrong| is_of(tool, &plain(&wrong.name)));
        why.extend(misread.map(|wrong| format!("MCP server `{}`: {}", wrong.name, wrong.why)));
        why
    }

    /// Starts a server, whether or not it is known, and says how that went.
    pub fn start_blocking(&self, server: &Server) -> Status {
        // The status says what went wrong.
        drop(wait(server.start()));
        server.status()
    }

    /// Forgets what is known of a server and the right to ask it.
    pub fn forget(&self, name: &str) {
        self.0.outside.vault.remove(name, Kept::Known);
        self.0.outside.vault.remove(name, Kept::Tokens);
    }

    /// Takes a person through the login of a server. `show` gets the address of the page; `pasted` the
    /// address that came back, where the browser runs on another machine.
    pub fn login_blocking(
        &self,
        config: &ServerConfig,
        show: Show,
        pasted: Option<Pasted>,
    ) -> Result<(), OAuthError> {
        let (Transport::Http(remote) | Transport::Sse(remote)) = &config.transport else {
            return Err(OAuthError::Wrong(
                "it is a program on this machine, which knows no login".to_owned(),
            ));
        };
        let runtime = self.0.machine.handle().ok_or(OAuthError::NeedsPerson)?;
        let wishes = remote.oauth.clone().unwrap_or_default();
        let patience = wishes.timeout.unwrap_or(Duration::from_mins(5));
        let work = async {
            let browser = Browser::open(&wishes, show, pasted).await.map_err(OAuthError::Wrong)?;
            let outside = &self.0.outside;
            let outside = Outside {
                launcher: Arc::clone(&outside.launcher),
                http: outside.http.clone(),
                host: Arc::clone(&outside.host),
                runtime: Box::new(|| None),
                vault: Arc::clone(&outside.vault),
                place: outside.place.clone(),
                person: Some(Arc::new(browser)),
                ring: Arc::clone(&outside.ring),
                asked: Arc::clone(&outside.asked),
            };
            let login = Box::pin(oauth::log_in(&config.name, remote, &outside));
            match select(login, outside.host.sleep(patience)).await {
                Either::Left((done, _)) => done,
                Either::Right(_) => Err(OAuthError::Refused("nobody logged in in time".to_owned())),
            }
        };
        wait(Inside { runtime, work: Box::pin(work) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_missing(server: &Server) -> bool {
    !server.is_known() && matches!(server.status(), Status::New | Status::Starting)
}

/// A server's name as it stands in those of its tools, where no other one is called alike.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Whether this is the name of a tool of the server that is called so.
fn is_of(tool: &str, called: &str) -> bool {
    let rest = tool.strip_prefix(OF_SERVERS).and_then(|rest| rest.strip_prefix(called));
    rest.is_some_and(|rest| rest.starts_with("__"))
}

/// Names in a list for people; a long one is cut.
fn listed(names: &[String]) -> String {
    let shown = names.get(..MOST_NAMES).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// That these servers have not said yet what they offer.
fn unheard(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(format!(
            "MCP server `{name}` has not said yet what it offers; its tools join when it has \
             (`hermes mcp test {name}` waits for it)"
        )),
        names => Some(format!(
            "{} MCP servers have not said yet what they offer: {}; `hermes mcp test NAME` waits for one",
            names.len(),
            listed(names)
        )),
    }
}

impl Kind for Mcp {
    fn look(&self, world: &World, sake: Sake) -> Changes {
        // The tools of servers have names that no tool of others has.
        if sake == Sake::OwnTool {
            return Changes::default();
        }
        let mut state = self.state();
        let mut changes = Changes::default();
        let mut anything = false;
        let vault = &self.0.vault;
        if state.revision != Some(world.revision()) {
            changes = state.reread(world, vault, &self.0.ahead, &self.0.outside);
            state.revision = Some(world.revision());
            anything = true;
        }
        let seen = vault.stamp();
        if state.seen != seen {
            state.seen = seen;
            state.servers.iter().for_each(|(name, slot)| match slot.server.made() {
                Some(server) => server.look_again(),
                None if vault.mark(name, Kept::Known) != slot.mark => drop(slot.server.get()),
                None => {}
            });
        }
        for slot in state.servers.values_mut() {
            let now = slot.standing();
            if slot.told.as_ref() == Some(&now) {
                continue;
            }
            let (scope, problems) = slot.server.get().scope();
            slot.told = Some(now);
            slot.problems = problems;
            changes.installed.push(scope);
            anything = true;
        }
        if let Some(seen) = state.to_keep.take() {
            state.keep(seen, vault);
        }
        if anything {
            let told = state.servers.values().flat_map(|slot| slot.problems.iter().cloned());
            let unheard = unheard(&state.unheard());
            changes.problems = Some(state.complaints.iter().cloned().chain(told).chain(unheard).collect());
        }
        changes
    }
}
