//! What lasts beyond a session, for the tools that ask for it: notes and earlier conversations.

use std::sync::Arc;

use hermes_core::host::Host;
use hermes_core::recall::Recall;
use hermes_store::sessions::{Clock, SessionStore};
use hermes_store::{Home, HomeMemory, HomeRecall, Settings};

use crate::host::Machine;

/// The notes of a home, unless the configuration wants none.
pub(crate) fn memory(home: &Home, settings: &Settings, machine: &Arc<Machine>) -> Option<HomeMemory> {
    let wanted = settings.memory.memory_enabled || settings.memory.user_profile_enabled;
    let (host, clock) = doors(machine);
    wanted.then(|| HomeMemory::new(home, &settings.memory, &host, &clock))
}

/// The earlier conversations of a home.
pub(crate) fn recall(home: &Home, sessions: &SessionStore, machine: &Arc<Machine>) -> Arc<dyn Recall> {
    let (host, clock) = doors(machine);
    Arc::new(HomeRecall::new(home, sessions, &host, &clock))
}

fn doors(machine: &Arc<Machine>) -> (Arc<dyn Host>, Arc<dyn Clock>) {
    (machine.clone(), machine.clone())
}
