//! What the server serves: sessions that can list and call tools. The composition root brings them.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::call::ToolCall;
use hermes_core::clarify::Asker;
use hermes_core::definitions::Toolbox;
use hermes_core::host::Host;
use hermes_core::outcome::Outcome;
use hermes_core::policy::Approver;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::shelf::Shelf;
use crate::mcp::ring::Ring;

/// Opens a session for every client that connects.
pub trait Workshop: Send + Sync + 'static {
    /// Opens one, or says why not.
    fn open(&self, visitor: Visitor) -> BoxFuture<'_, Result<Arc<dyn Bench>, String>>;

    /// Clock and timer.
    fn host(&self) -> Arc<dyn Host>;

    /// What clients are told about these tools as a whole.
    fn instructions(&self) -> String;

    /// Hears what went wrong with a client that cannot be told, or may not tell its person.
    fn trouble(&self, _what: &str) {}

    /// Who we are among those that ask each other, if we ask servers ourselves.
    fn ring(&self) -> Option<Arc<Ring>> {
        None
    }

    /// Resources and prompts beside the tools, if there are any.
    fn shelf(&self) -> Option<Arc<dyn Shelf>> {
        None
    }
}

/// Who connected: how the session reaches the person behind the client.
pub struct Visitor {
    /// Answers when policy asks.
    pub approver: Arc<dyn Approver>,
    /// Answers questions in the middle of the work, where the client can show them.
    pub asker: Option<Arc<dyn Asker>>,
    /// For tools that report progress or ask themselves.
    pub client: Client,
    /// The name the client gave, for the record.
    pub name: Option<String>,
}

/// A session at work.
pub trait Bench: Send + Sync + 'static {
    /// The tools of this moment; the same tools are the same value.
    fn tools(&self) -> BoxFuture<'_, Arc<Toolbox>>;

    /// Takes one call all the way, unless `cancel` fires first.
    fn call<'a>(&'a self, call: ToolCall, cancel: &'a CancellationToken) -> BoxFuture<'a, Outcome>;

    /// Stops everything that runs in it.
    fn close(&self);
}
