//! The store of sessions of a home, for code that just waits and for everybody else.

use std::sync::Arc;

use hermes_core::host::Host;
use hermes_store::Home;
use hermes_store::sessions::{Clock, Durability, SessionError, SessionStore, Sessions};

use crate::host::Machine;

/// Opens the store of a home, and makes it where there is none.
pub fn open_sessions(home: &Home) -> Result<Sessions, SessionError> {
    Sessions::open(&home.sessions_db(), Arc::new(Machine::new()), Durability::default())
}

/// Opens the store of a home if there is one; nothing is made.
pub fn existing_sessions(home: &Home) -> Result<Option<Sessions>, SessionError> {
    Sessions::open_existing(&home.sessions_db(), Arc::new(Machine::new()), Durability::default())
}

/// The store of a home on the threads of a machine; opened when first used.
pub(crate) fn shared(home: &Home, machine: &Arc<Machine>) -> SessionStore {
    let host: Arc<dyn Host> = machine.clone();
    let clock: Arc<dyn Clock> = machine.clone();
    SessionStore::new(&home.sessions_db(), &host, &clock, Durability::default())
}
