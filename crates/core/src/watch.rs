//! Somebody who looks on while calls of a session run: the line on the screen, a stream of events.
//!
//! A watcher changes nothing and is never waited for. The owner of a session puts an
//! `Arc<dyn Watcher>` into its [extensions](crate::session::SessionSpec::extensions).

use crate::call::CallId;
use crate::hook::CallView;
use crate::journal::Starting;
use crate::outcome::Outcome;

/// Looks on.
pub trait Watcher: Send + Sync {
    /// A call begins to run: it is allowed, and written down.
    fn began(&self, start: &Starting<'_>);

    /// A running call tells how far it is, in a few words that may come from a stranger.
    fn progress(&self, _call: &CallId, _words: &str) {}

    /// A call will not run, though it made sense; its end follows at once.
    fn refused(&self, _call: &CallView) {}

    /// A call is over, whether or not it ran.
    fn ended(&self, outcome: &Outcome);
}
