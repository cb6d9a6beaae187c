//! The tools of a session as its agent uses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use hermes_agent::Tools;
use hermes_core::call::ToolCall;
use hermes_core::outcome::Outcome;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// A session, seen from its agent.
pub(crate) struct SessionTools {
    session: Arc<Session>,
    /// Whether somebody has looked for tools just before the next request.
    is_looked_for: AtomicBool,
}

impl SessionTools {
    pub(crate) fn of(session: &Arc<Session>) -> Self {
        Self { session: Arc::clone(session), is_looked_for: AtomicBool::new(false) }
    }

    /// Somebody has looked for tools: the next request does not look again.
    pub(crate) fn looked_just_now(&self) {
        self.is_looked_for.store(true, Ordering::Relaxed);
    }
}

impl Tools for SessionTools {
    fn definitions(&self) -> BoxFuture<'_, Arc<str>> {
        Box::pin(async {
            let looked = self.is_looked_for.swap(false, Ordering::Relaxed);
            let session = &self.session;
            let toolbox = if looked { session.current_toolbox().await } else { session.toolbox().await };
            Arc::clone(toolbox.json())
        })
    }

    fn run<'a>(&'a self, calls: Vec<ToolCall>, cancel: &'a CancellationToken) -> BoxFuture<'a, Vec<Outcome>> {
        Box::pin(self.session.batch_until(calls, cancel))
    }

    fn open_todos(&self) -> Option<String> {
        hermes_tools::open_todos(self.session.state())
    }

    fn harmless(&self, tool: &str) -> bool {
        self.session.is_read_only(tool)
    }
}
