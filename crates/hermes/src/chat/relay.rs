//! Carries what a session's calls do to whoever follows the turn at the moment.
//!
//! A session is opened before its turns, and each turn may be followed by somebody else.

use std::sync::{Arc, Mutex, PoisonError};

use hermes_agent::Event;

/// Hears what happens during turns.
pub type Follower = Arc<dyn Fn(Event) + Send + Sync>;

/// The one who listens now, if anybody does.
#[derive(Clone, Default)]
pub(crate) struct Relay(Arc<Mutex<Option<Follower>>>);

impl Relay {
    /// Passes something on.
    pub(crate) fn tell(&self, event: Event) {
        let follower = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(follower) = follower {
            follower(event);
        }
    }

    /// Lets somebody listen until the guard is dropped.
    pub(crate) fn follow(&self, follower: Follower) -> Following {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(follower);
        Following(self.clone())
    }
}

/// Ends the listening when it is dropped.
pub(crate) struct Following(Relay);

impl Drop for Following {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
