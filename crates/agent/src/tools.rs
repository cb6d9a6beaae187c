//! What an agent needs of the tools around it. The composition root implements it over a session.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::outcome::Outcome;
use tokio_util::sync::CancellationToken;

/// The tools of one session.
pub trait Tools: Send + Sync {
    /// Their definitions as one JSON array; the same bytes for a whole session.
    fn definitions(&self) -> BoxFuture<'_, Arc<str>>;

    /// Runs the calls of one answer. The outcomes carry the ids the calls came with; when `cancel`
    /// fires, it ends soon.
    fn run<'a>(&'a self, calls: Vec<ToolCall>, cancel: &'a CancellationToken) -> BoxFuture<'a, Vec<Outcome>>;

    /// What is still on the list of things to do, in words for the model.
    fn open_todos(&self) -> Option<String> {
        None
    }

    /// Whether a tool leaves the world outside the session as it was, whatever its arguments. Decides
    /// together with denials whether a turn counts as denied.
    fn harmless(&self, tool: &str) -> bool {
        let _ = tool;
        false
    }
}
