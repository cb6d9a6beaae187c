//! Checkpoints in the state folder, kept off the async threads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::checkpoint::{Before, Checkpoints, Moment};
use hermes_core::host::{self, Host};
use hermes_store::checkpoints::Limits;
use serde_json::Value;

use crate::host::Machine;
use crate::world::World;

/// Keeps old content below the home.
pub(crate) struct HomeCheckpoints {
    pub(crate) store: Arc<hermes_store::Checkpoints>,
    machine: Arc<Machine>,
    /// Whether old ones were looked for in this process.
    swept: AtomicBool,
}

/// The checkpoints the configuration asks for; none without a home or when they are switched off.
pub(crate) fn of(world: &World, machine: &Arc<Machine>) -> Option<Arc<HomeCheckpoints>> {
    if world.config("checkpoints.enabled") == Some(Value::Bool(false)) {
        return None;
    }
    let number = |key: &str| world.config(key).and_then(|value| value.as_u64());
    let defaults = Limits::default();
    let megabytes =
        |key: &str, default: u64| number(key).map_or(default, |mb| mb.saturating_mul(1024 * 1024));
    let limits = Limits {
        file_bytes: megabytes("checkpoints.max_file_size_mb", defaults.file_bytes),
        total_bytes: megabytes("checkpoints.max_total_size_mb", defaults.total_bytes),
        per_place: number("checkpoints.max_snapshots")
            .map_or(defaults.per_place, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        age: number("checkpoints.retention_days")
            .map_or(defaults.age, |days| Duration::from_secs(days.saturating_mul(24 * 60 * 60))),
    };
    let store = Arc::new(hermes_store::Checkpoints::open(world.home()?, limits));
    Some(Arc::new(HomeCheckpoints { store, machine: Arc::clone(machine), swept: AtomicBool::new(false) }))
}

impl Checkpoints for HomeCheckpoints {
    fn wants(&self, moment: &Moment<'_>, path: &Path) -> bool {
        self.store.wants(moment, path)
    }

    fn max_bytes(&self) -> u64 {
        self.store.limits().file_bytes
    }

    fn keep<'a>(&'a self, moment: Moment<'a>, files: Vec<Before>) -> BoxFuture<'a, Result<(), String>> {
        let (store, now) = (Arc::clone(&self.store), Machine::wall());
        let host: Arc<dyn Host> = Arc::clone(&self.machine) as Arc<dyn Host>;
        let (session, turn) = (moment.session.to_owned(), moment.turn);
        let (cwd, tool) = (moment.cwd.to_owned(), moment.tool.to_owned());
        Box::pin(async move {
            let kept = host::blocking(&host, move || {
                let moment = Moment { session: &session, turn, cwd: &cwd, tool: &tool };
                store.keep(&moment, &files, now)
            });
            kept.await.map_err(|lost| lost.to_string())?.map_err(|wrong| wrong.to_string())?;
            if !self.swept.swap(true, Ordering::Relaxed) {
                let store = Arc::clone(&self.store);
                // What could not be swept now is swept another time.
                self.machine.run_blocking(Box::new(move || drop(store.sweep(now))));
            }
            Ok(())
        })
    }
}
