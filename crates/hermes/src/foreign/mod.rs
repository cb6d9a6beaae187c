//! Foreign tools: every kind of them is looked for whenever the tools of this moment are asked for,
//! so that a file dropped into its folder is there at the next call.
//!
//! | file | kind |
//! |---|---|
//! | `mcp.rs` | tools of MCP servers |
//! | `launcher.rs` | starts the programs that foreign tools live in |

mod launcher;
mod mcp;

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hermes_core::registry::{Registry, Scope, Source};
use hermes_core::session::Place;
use hermes_extend::launch::Launch;

use crate::host::Machine;
use crate::world::World;
use launcher::Launcher;
pub use mcp::Mcp;
pub(crate) use mcp::Person;

/// One kind of foreign tools.
pub(crate) trait Kind: Send + Sync {
    /// What changed since it was last asked. Asked often: it looks at dates of files or at values
    /// that are at hand, starts nothing and waits for nothing.
    fn look(&self, world: &World) -> Changes;
}

/// What a kind wants to be changed.
#[derive(Default)]
pub(crate) struct Changes {
    /// Sources to be taken away.
    pub(crate) removed: Vec<Source>,
    /// Scopes to be installed, each whole or not at all.
    pub(crate) installed: Vec<Scope>,
    /// What is wrong with what is there now, in words; `None` when that did not change.
    pub(crate) problems: Option<Vec<String>>,
}

/// All kinds.
pub(crate) struct Foreign {
    kinds: Vec<Box<dyn Kind>>,
    /// Per kind, what it complained about.
    problems: Mutex<Vec<Vec<String>>>,
    launcher: Arc<dyn Launch>,
    mcp: Mcp,
}

impl Foreign {
    /// Nothing is looked for yet.
    pub(crate) fn new(
        world: &World,
        machine: &Arc<Machine>,
        place: &Place,
        person: Option<Arc<dyn Person>>,
    ) -> Self {
        let launcher: Arc<dyn Launch> = Arc::new(Launcher::new(world, machine));
        let mcp = Mcp::new(world, machine, place, Arc::clone(&launcher), person);
        let kinds: Vec<Box<dyn Kind>> = vec![Box::new(mcp.clone())];
        Self { kinds, problems: Mutex::default(), launcher, mcp }
    }

    /// The MCP servers.
    pub(crate) fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// Starts programs that foreign tools live in.
    #[expect(dead_code, reason = "for the kinds whose programs others start")]
    pub(crate) fn launcher(&self) -> &Arc<dyn Launch> {
        &self.launcher
    }

    /// Brings the registry up to date.
    pub(crate) fn look(&self, registry: &Registry, world: &RwLock<World>) {
        if self.kinds.is_empty() {
            return;
        }
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.resize_with(self.kinds.len(), Vec::new);
        for (kind, complaints) in self.kinds.iter().zip(problems.iter_mut()) {
            let changes = kind.look(&world.read().unwrap_or_else(PoisonError::into_inner));
            if let Some(fresh) = changes.problems {
                *complaints = fresh;
            }
            for source in &changes.removed {
                registry.remove(source);
            }
            for scope in changes.installed {
                if let Err(refused) = registry.install(scope) {
                    complaints.push(refused.to_string());
                }
            }
        }
    }

    /// What is wrong with foreign tools, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).concat()
    }
}
