//! Foreign tools: every kind of them is looked for whenever the tools of this moment are asked for,
//! so that a file dropped into its folder is there at the next call. Only what has no say in a call is
//! left out for its sake.
//!
//! | file | kind |
//! |---|---|
//! | `launcher.rs`, `tasks.rs` | start the programs that foreign tools live in, and talk with them |
//! | `hooks.rs` | shell hooks |
//! | `mcp.rs`, `mcp_state.rs` | MCP servers; which there are, and what the registry was told of them |
//! | `mcp_vault.rs`, `mcp_memory.rs` | what is learnt of them; what one says before it is wanted |
//! | `mcp_briefs.rs` | what a start is told of servers without reading all that |
//! | `mcp_left_out.rs` | in their place, where there are to be none |
//! | `serve.rs` | the other way round: the tools of this runtime for MCP clients |
//! | `tool_files.rs` | Python tool files |
//! | `plugins.rs`, `find_plugins.rs` | plugins, in Python or in any language |
//! | `surface.rs` | what a runtime tells about them |
//! | `asking.rs` | asks files and plugins what they offer, without holding up a start |
//! | `learnt.rs` | what files and plugins offer, kept from one start to the next |
//! | `ahead.rs` | finds something out before it is wanted |

pub(crate) mod ahead;
mod asking;
pub(crate) mod find_plugins;
mod hooks;
mod launcher;
mod learnt;
mod mcp;
mod mcp_briefs;
mod mcp_left_out;
mod mcp_memory;
mod mcp_state;
mod mcp_vault;
pub(crate) mod plugins;
pub(crate) mod serve;
pub(crate) mod surface;
pub(crate) mod tasks;
pub(crate) mod tool_files;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::UNIX_EPOCH;

use hermes_core::host::Host;
use hermes_core::registry::{Registry, Scope, Source};
use hermes_core::session::Place;
use hermes_extend::launch::Launch;
use hermes_extend::plugins::desk::Desk;
use hermes_extend::plugins::hook::Around;
use hermes_extend::python::Hosts;
use hermes_extend::rpc::Tasks as _;
use hermes_extend::worker::Doors;
use hermes_store::{Home, foreign};

use crate::host::{Machine, aside};
use crate::redact::WorldRedact;
use crate::world::World;
use ahead::Work;
use asking::{Asking, Pending, Unheard, wait_a_moment};
use hooks::Hooks;
use launcher::Launcher;
pub use mcp::Mcp;
pub(crate) use mcp::Person;
use mcp_left_out::LeftOut;
pub use mcp_memory::Memory as McpMemory;
use plugins::Plugins;
use tasks::MachineTasks;
use tool_files::ToolFiles;

/// Where foreign tools print to, in the home's logs.
const LOG: &str = "tools.log";

/// What it takes to talk with foreign programs.
fn doors(launch: &Arc<dyn Launch>, machine: &Arc<Machine>) -> Doors {
    let tasks = Arc::new(MachineTasks(Arc::clone(machine)));
    Doors { launch: Arc::clone(launch), tasks, host: machine.clone() }
}

/// Where foreign programs ask for more; what they print goes to the home's log, without the secrets that
/// they were given, and so is whatever else is told of them.
fn desk(home: &Home, secrets: Arc<WorldRedact>) -> Arc<Desk> {
    let (home, known) = (home.clone(), Arc::clone(&secrets));
    let log = move |name: &str, line: &str| {
        let since_epoch = Machine::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = known.at_once(line);
        // A line that cannot be written is lost; the tool that said it is not to blame.
        let _ = foreign::log(&home, LOG, &format!("{} {name}: {line}", since_epoch.as_secs()));
        line.into_owned()
    };
    Desk::new(Arc::new(log), Arc::new(move |text| secrets.at_once(text).into_owned()))
}

pub use hooks::HookStanding;
pub(crate) use hooks::problems as hook_problems;

/// One kind of foreign tools.
pub(crate) trait Kind: Send + Sync {
    /// What changed since it was last asked. Asked often: it looks at dates of files or at values
    /// that are at hand, starts nothing and waits for nothing.
    fn look(&self, world: &World, sake: Sake) -> Changes;
}

/// For whose sake kinds are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sake {
    /// Whoever wants to know of all tools.
    All,
    /// A call of a tool of our own: a kind may leave out what has no say in that.
    OwnTool,
    /// A call of a tool of an MCP server, likewise.
    ServersTool,
}

impl<K: Kind> Kind for Arc<K> {
    fn look(&self, world: &World, sake: Sake) -> Changes {
        (**self).look(world, sake)
    }
}

/// What a kind wants to be changed.
#[derive(Default)]
pub(crate) struct Changes {
    /// Sources to be taken away.
    pub(crate) removed: Vec<Source>,
    /// Scopes to be installed, each whole or not at all, unless it comes in parts.
    pub(crate) installed: Vec<Scope>,
    /// What is wrong with what is there now, in words; `None` when that did not change.
    pub(crate) problems: Option<Vec<String>>,
    /// What is new and was asked what it offers.
    pub(crate) pending: Vec<Pending>,
}

/// All kinds.
pub(crate) struct Foreign {
    /// MCP servers first.
    kinds: Vec<Box<dyn Kind>>,
    /// Per kind, what it complained about.
    problems: Mutex<Vec<Vec<String>>>,
    mcp: Mcp,
    tool_files: Option<Arc<ToolFiles>>,
    plugins: Option<Arc<Plugins>>,
    hooks: Arc<Hooks>,
    launcher: Arc<dyn Launch>,
    tasks: MachineTasks,
    host: Arc<dyn Host>,
    /// Whether anybody has looked at all kinds.
    looked: AtomicBool,
    /// Whether looks leave out what has no say in what tools of others do.
    is_narrow: AtomicBool,
}

/// What a runtime wants of foreign tools.
pub(crate) struct Wish {
    pub(crate) extent: Extent,
    /// Whether MCP servers are among them.
    pub(crate) mcp_servers: bool,
    /// The folders of the project, the nearest first.
    pub(crate) project: Vec<PathBuf>,
    /// What must not get into logs.
    pub(crate) secrets: Arc<WorldRedact>,
}

/// Which foreign tools, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of them, as they are at each moment.
    Lasting,
    /// All of them, as they are at one moment.
    OneMoment,
    /// At one moment those that have a say in what a tool of our own does; all of them if somebody asks.
    OneCall,
}

impl Foreign {
    /// Nothing is looked for yet.
    pub(crate) fn new(
        world: &World,
        machine: &Arc<Machine>,
        place: &Place,
        person: Option<Arc<dyn Person>>,
        wish: Wish,
    ) -> Self {
        let Wish { extent, mcp_servers, project, secrets } = wish;
        let one_moment = extent != Extent::Lasting;
        let launcher: Arc<dyn Launch> = Arc::new(Launcher::new(world, machine));
        let mcp = Mcp::new(world, machine, place, Arc::clone(&launcher), person, &secrets);
        let hooks = Arc::new(Hooks::new(world, place, &launcher, machine, Arc::clone(&secrets)));
        let servers: Box<dyn Kind> =
            if mcp_servers { Box::new(mcp.clone()) } else { Box::new(LeftOut::default()) };
        let mut kinds: Vec<Box<dyn Kind>> = vec![servers, Box::new(Arc::clone(&hooks))];
        let (mut tool_files, mut plugins) = (None, None);
        if let Some(home) = world.home() {
            let (doors, desk) = (doors(&launcher, machine), desk(home, secrets));
            let hosts = Hosts::new(doors.clone(), Arc::clone(&desk), home.path().to_path_buf());
            let asking = Asking::new(home.clone(), tool_files::KEPT, doors.clone(), tool_files::AT_ONCE);
            let files = Arc::new(ToolFiles::new(home.clone(), &project, hosts, asking, one_moment));
            kinds.push(Box::new(Arc::clone(&files)));
            tool_files = Some(files);
            let around = Around { crew: Arc::default(), doors, observers: hooks.observers().clone() };
            let found = Arc::new(Plugins::new(home.clone(), &project, around, desk, one_moment));
            kinds.push(Box::new(Arc::clone(&found)));
            plugins = Some(found);
        }
        Self {
            kinds,
            problems: Mutex::default(),
            mcp,
            tool_files,
            plugins,
            hooks,
            launcher,
            tasks: MachineTasks(Arc::clone(machine)),
            host: machine.clone(),
            looked: AtomicBool::default(),
            is_narrow: AtomicBool::new(extent == Extent::OneCall),
        }
    }

    /// The MCP servers.
    pub(crate) fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// Starts programs that a person has agreed to.
    pub(crate) fn launcher(&self) -> &Arc<dyn Launch> {
        &self.launcher
    }

    /// Shell hooks.
    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Python tool files, if there is a home.
    pub(crate) fn tool_files(&self) -> Option<&Arc<ToolFiles>> {
        self.tool_files.as_ref()
    }

    /// Plugins, if there is a home.
    pub(crate) fn plugins(&self) -> Option<&Arc<Plugins>> {
        self.plugins.as_ref()
    }

    /// Begins with what takes longest about a look that follows soon, and does something else `then`, on the same
    /// thread: a small machine has no time for a third. `false` where there is nothing to begin with. Whoever looks
    /// takes over what has not begun by then.
    pub(crate) fn look_ahead(&self, world: &World, then: impl FnOnce() + Send + 'static) -> bool {
        let mut work: Vec<Work> = Vec::new();
        if !self.looked.load(Ordering::Acquire) {
            work.extend(self.plugins.as_ref().and_then(|plugins| plugins.look_ahead(world)));
            work.extend(self.mcp.look_ahead());
        }
        let any = !work.is_empty();
        let begun = self.tasks.start(Box::pin(async {
            for work in work {
                work();
            }
            then();
        }));
        any && begun
    }

    /// Brings the registry up to date. What nobody has seen before is waited for, but only a moment.
    pub(crate) fn look(&self, registry: &Registry, world: &RwLock<World>) {
        self.look_in_turn(self.turn(), self.sake(), registry, world);
    }

    /// The same for calls of tools that MCP servers have by what is known: what else is in folders has no say in
    /// those.
    pub(crate) fn look_for_servers(&self, registry: &Registry, world: &RwLock<World>) {
        let sake = if self.looked.load(Ordering::Acquire) { Sake::ServersTool } else { self.sake() };
        self.look_in_turn(self.turn(), sake, registry, world);
    }

    fn sake(&self) -> Sake {
        if self.is_narrow.load(Ordering::Acquire) { Sake::OwnTool } else { Sake::All }
    }

    fn look_in_turn(
        &self,
        mut problems: MutexGuard<'_, Vec<Vec<String>>>,
        sake: Sake,
        registry: &Registry,
        world: &RwLock<World>,
    ) {
        let pending = self.pass(&self.kinds, sake, registry, world, &mut problems);
        if !pending.is_empty() {
            wait_a_moment(pending, &self.host);
            // Whoever is still being asked joins at a later look.
            drop(self.pass(&self.kinds, sake, registry, world, &mut problems));
        }
        self.looked.store(true, Ordering::Release);
    }

    /// The same, unless somebody has looked before, or does just now.
    pub(crate) fn look_once(&self, registry: &Registry, world: &RwLock<World>) {
        if self.looked.load(Ordering::Acquire) {
            return;
        }
        let problems = self.turn();
        if !self.looked.load(Ordering::Acquire) {
            self.look_in_turn(problems, self.sake(), registry, world);
        }
    }

    /// Somebody asks for foreign tools themselves: from now on nothing is left out.
    pub(crate) fn widen(&self) {
        if self.is_narrow.swap(false, Ordering::AcqRel) {
            self.looked.store(false, Ordering::Release);
        }
    }

    /// Looks at the MCP servers alone.
    pub(crate) fn look_at_mcp(&self, registry: &Registry, world: &RwLock<World>) {
        let mut problems = self.turn();
        let mcp = self.kinds.get(..1).unwrap_or_default();
        drop(self.pass(mcp, self.sake(), registry, world, &mut problems));
    }

    /// One looks after the other, and who looks may wait for programs.
    fn turn(&self) -> MutexGuard<'_, Vec<Vec<String>>> {
        match self.problems.try_lock() {
            Ok(problems) => problems,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                aside(|| self.problems.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// Takes over what these kinds say, as one change; what is asked by now.
    fn pass(
        &self,
        kinds: &[Box<dyn Kind>],
        sake: Sake,
        registry: &Registry,
        world: &RwLock<World>,
        problems: &mut Vec<Vec<String>>,
    ) -> Vec<Pending> {
        problems.resize_with(self.kinds.len(), Vec::new);
        let (mut pending, mut gone, mut new, mut owners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let look = |kind: &dyn Kind| kind.look(&world.read().unwrap_or_else(PoisonError::into_inner), sake);
        // Plugins before servers, as what is kept of them is read ahead. The registry is told in the other order.
        let looked: Vec<Changes> = kinds.iter().rev().map(|kind| look(kind.as_ref())).collect();
        for (at, (changes, complaints)) in looked.into_iter().rev().zip(&mut *problems).enumerate() {
            if let Some(fresh) = changes.problems {
                *complaints = fresh;
            }
            pending.extend(changes.pending);
            gone.extend(changes.removed);
            owners.extend(changes.installed.iter().map(|_| at));
            new.extend(changes.installed);
        }
        for (at, done) in owners.into_iter().zip(registry.change(&gone, new)) {
            if let (Err(refused), Some(complaints)) = (done, problems.get_mut(at)) {
                complaints.push(refused.to_string());
            }
        }
        pending
    }

    /// Asks those again that were late or failed, beside everything else: they join when ready.
    pub(crate) fn ask_again(&self, world: &World) {
        let not_hung = |unheard: &Unheard| *unheard != Unheard::Hung;
        if let Some(files) = &self.tool_files {
            drop(files.asking().ask(files.again(world, |_, unheard| not_hung(unheard))));
        }
        if let Some(plugins) = &self.plugins {
            drop(plugins.asking().ask(plugins.again(|_, unheard| not_hung(unheard))));
        }
    }

    /// Asks those again that may have this tool, as far as they are meant.
    pub(crate) fn ask_for(
        &self,
        tool: &str,
        meant: impl Fn(&Unheard) -> bool,
        world: &World,
    ) -> Vec<Pending> {
        let files = self.tool_files.iter().map(|files| {
            let named = |found: &[_], unheard: &_| meant(unheard) && tool_files::names(found, tool);
            files.asking().ask(files.again(world, named))
        });
        let plugins = self.plugins.iter();
        let plugins = plugins.map(|plugins| plugins.asking().ask(plugins.again(|_, unheard| meant(unheard))));
        files.chain(plugins).filter(|pending| !pending.is_empty()).collect()
    }

    /// What is wrong with foreign tools, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.turn().concat()
    }

    /// The same for the MCP servers alone.
    pub(crate) fn mcp_problems(&self) -> Vec<String> {
        self.turn().first().cloned().unwrap_or_default()
    }
}
