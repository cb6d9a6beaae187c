//! Definitions that were built before and would come out the same again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::availability::Availability;
use crate::definitions::assemble::assemble;
use crate::definitions::{DefinitionSettings, Toolbox};
use crate::registry::Snapshot;
use crate::toolset::Plan;

/// How many results are kept; the one not used for longest goes first.
const KEPT: usize = 8;

/// Remembers definitions by everything they depend on.
#[derive(Default)]
pub struct DefinitionCache {
    // Most recently used last.
    kept: Mutex<Vec<(DefinitionSettings, Arc<Toolbox>)>>,
}

impl DefinitionCache {
    /// The toolbox of a plan: found again, or built.
    pub async fn toolbox(
        &self,
        snapshot: &Arc<Snapshot>,
        plan: &Arc<Plan>,
        settings: &DefinitionSettings,
        availability: &Availability,
        config: &(dyn Fn(&str) -> Option<Value> + Sync),
    ) -> Arc<Toolbox> {
        if let Some(found) = self.find(snapshot, plan, settings, availability) {
            return found;
        }
        let built = assemble(Arc::clone(snapshot), Arc::clone(plan), settings, availability, config).await;
        let built = Arc::new(built);
        let mut kept = self.lock();
        kept.retain(|(known, toolbox)| !(known == settings && toolbox.plan == *plan));
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((*settings, Arc::clone(&built)));
        built
    }

    /// Forgets everything; for what the key cannot see, such as a changed configuration.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn find(
        &self,
        snapshot: &Arc<Snapshot>,
        plan: &Arc<Plan>,
        settings: &DefinitionSettings,
        availability: &Availability,
    ) -> Option<Arc<Toolbox>> {
        let mut kept = self.lock();
        let at = kept.iter().position(|(known, toolbox)| {
            toolbox.snapshot.generation() == snapshot.generation()
                && known == settings
                && (Arc::ptr_eq(&toolbox.plan, plan) || toolbox.plan == *plan)
                && availability.still_holds(toolbox.epoch, toolbox.until)
        })?;
        let last = kept.len() - 1;
        if at != last {
            let used = kept.remove(at);
            kept.push(used);
        }
        kept.last().map(|(_, toolbox)| Arc::clone(toolbox))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(DefinitionSettings, Arc<Toolbox>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
