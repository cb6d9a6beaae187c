//! The tools of a session as its agent uses them.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_agent::Tools;
use hermes_core::call::ToolCall;
use hermes_core::outcome::Outcome;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// A session, seen from its agent.
pub(crate) struct SessionTools(pub(crate) Arc<Session>);

impl Tools for SessionTools {
    fn definitions(&self) -> BoxFuture<'_, Arc<str>> {
        Box::pin(async { Arc::clone(self.0.toolbox().await.json()) })
    }

    fn run<'a>(&'a self, calls: Vec<ToolCall>, cancel: &'a CancellationToken) -> BoxFuture<'a, Vec<Outcome>> {
        Box::pin(self.0.batch_until(calls, cancel))
    }

    fn open_todos(&self) -> Option<String> {
        hermes_tools::open_todos(self.0.state())
    }

    fn harmless(&self, tool: &str) -> bool {
        self.0.is_read_only(tool)
    }
}
