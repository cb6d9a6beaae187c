//! Notices when nobody has used a place for a while.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use hermes_core::host::Host;
use hermes_core::wait::wait;

use crate::far::Far;

/// Who uses a place, and since when nobody does.
#[derive(Default)]
pub(super) struct Idle {
    users: AtomicUsize,
    /// Used since it was last looked at.
    used: AtomicBool,
    watched: AtomicBool,
    over: Mutex<bool>,
    wake: Condvar,
}

/// Held while a place is used.
pub(super) struct Using(Arc<Idle>);

impl Idle {
    pub(super) fn using(self: &Arc<Self>) -> Using {
        self.users.fetch_add(1, Ordering::Relaxed);
        self.used.store(true, Ordering::Relaxed);
        Using(Arc::clone(self))
    }

    pub(super) fn in_use(&self) -> bool {
        self.users.load(Ordering::Relaxed) > 0
    }

    /// Nobody will use it any more.
    pub(super) fn end(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
    }

    /// Closes the place when nobody used it for `lifetime`; one watcher at a time.
    pub(super) fn watch(self: &Arc<Self>, place: &Weak<Far>, host: &Arc<dyn Host>, lifetime: Duration) {
        if lifetime.is_zero() || self.watched.swap(true, Ordering::Relaxed) {
            return;
        }
        let (idle, place) = (Arc::clone(self), Weak::clone(place));
        host.run_blocking(Box::new(move || {
            while idle.sleep(lifetime) {
                if idle.used.swap(false, Ordering::Relaxed) || idle.in_use() {
                    continue;
                }
                let Some(place) = place.upgrade() else { break };
                let closed = wait(place.close_idle());
                if closed {
                    break;
                }
            }
            idle.watched.store(false, Ordering::Relaxed);
        }));
    }

    /// `false` when it is over.
    fn sleep(&self, time: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.wake.wait_timeout_while(over, time, |over| !*over);
        let (over, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !*over
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        self.0.used.store(true, Ordering::Relaxed);
        self.0.users.fetch_sub(1, Ordering::Relaxed);
    }
}
