//! What the tests of this room share: a clock that moves by itself, a store in a temporary folder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Clock, Durability, NewSession, Sessions};

/// A clock that is one second later each time it is asked, and never really waits.
#[derive(Default)]
pub(crate) struct Steps(AtomicU64);

impl Clock for Steps {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn pause(&self, _time: Duration) {
        std::thread::yield_now();
    }
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(Steps::default())
}

pub(crate) fn store() -> (tempfile::TempDir, Sessions) {
    let dir = tempfile::tempdir().unwrap();
    let store = Sessions::open(&dir.path().join("hermes.db"), clock(), Durability::Kill).unwrap();
    (dir, store)
}

pub(crate) fn session(store: &Sessions, id: &str) {
    store.create(&NewSession { id: Some(id.to_owned()), ..NewSession::from("cli") }).unwrap();
}
