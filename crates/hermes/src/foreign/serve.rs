//! The tools of a runtime for MCP clients: every client gets a session of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::bridge::{ToolSearch, When};
use hermes_core::call::ToolCall;
use hermes_core::definitions::{DefinitionSettings, Toolbox};
use hermes_core::host::Host;
use hermes_core::outcome::Outcome;
use hermes_core::toolset::{Selection, SelectionError};
use hermes_extend::mcp::ring::Ring;
use hermes_extend::mcp::server::{self, Bench, HttpSettings, ServeError, Shelf, Visitor, Workshop};
use hermes_store::sessions::NewSession;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::runtime::Runtime;
use crate::session::Session;

/// Which door the sessions of MCP clients come in by, in the record.
const SOURCE: &str = "mcp";

/// Serves the tools of a runtime to MCP clients.
pub struct McpServer {
    runtime: Runtime,
    selection: Selection,
    record: bool,
    shelf: Option<Arc<dyn Shelf>>,
    trouble: Option<Trouble>,
}

/// Hears what went wrong with a client.
type Trouble = Box<dyn Fn(&str) + Send + Sync>;

impl McpServer {
    /// All tools, or says which name of the selection is not known.
    pub fn new(runtime: &Runtime, selection: Selection) -> Result<Self, SelectionError> {
        selection.plan(runtime.tools().catalog())?;
        Ok(Self { runtime: runtime.clone(), selection, record: false, shelf: None, trouble: None })
    }

    /// Keeps a record of every client's session in the home's store; for runtimes that record calls.
    pub fn record_sessions(mut self) -> Self {
        self.record = true;
        self
    }

    /// Offers resources and prompts beside the tools.
    pub fn shelf(mut self, shelf: Arc<dyn Shelf>) -> Self {
        self.shelf = Some(shelf);
        self
    }

    /// Tells what went wrong with a client that cannot be told itself, in words for a person.
    pub fn trouble(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.trouble = Some(Box::new(tell));
        self
    }

    /// Serves the client at the other end of standard input and output, until it closes them or
    /// `stop` fires. Blocks meanwhile.
    pub fn stdio(self, stop: CancellationToken) -> Result<(), ServeError> {
        let runtime = self.runtime.clone();
        waited(&runtime, server::serve_stdio(Arc::new(self), stop))
    }

    /// Serves clients over HTTP until `stop` fires; `ready` is told where. Blocks meanwhile.
    pub fn http(
        self,
        settings: HttpSettings,
        ready: impl FnOnce(SocketAddr),
        stop: CancellationToken,
    ) -> Result<(), ServeError> {
        let runtime = self.runtime.clone();
        let server = Arc::new(self);
        // Whoever is reached by an address may reach itself by it.
        let told = Arc::downgrade(&server);
        runtime.ring().listen(move |what| {
            if let Some(server) = told.upgrade() {
                Workshop::trouble(&*server, what);
            }
        });
        waited(&runtime, server::serve_http(server, settings, ready, stop))
    }
}

/// Does the work on the threads of the runtime, and waits for its end.
fn waited(runtime: &Runtime, work: impl Future<Output = Result<(), ServeError>>) -> Result<(), ServeError> {
    match runtime.machine().handle() {
        Some(handle) => handle.block_on(work),
        None => Err(ServeError::Broken("the system gives no threads to work on".to_owned())),
    }
}

impl Workshop for McpServer {
    fn open(&self, visitor: Visitor) -> BoxFuture<'_, Result<Arc<dyn Bench>, String>> {
        Box::pin(async move {
            self.runtime.ask_again();
            // Clients have their own ways to leave tools out; here every tool is in the list.
            let search = ToolSearch { when: When::Off, ..ToolSearch::default() };
            let definitions = DefinitionSettings { search, ..self.runtime.definition_settings() };
            let mut session = self
                .runtime
                .session()
                .select(self.selection.clone())
                .definitions(definitions)
                .approver(visitor.approver)
                .extension(visitor.client);
            if let Some(asker) = visitor.asker {
                session = session.extension(asker);
            }
            let session = session.open().map_err(|wrong| wrong.to_string())?;
            let bench = SessionBench {
                runtime: self.runtime.clone(),
                record: self.record.then(|| visitor.name.unwrap_or_else(|| "unknown client".to_owned())),
                recorded: OnceCell::new(),
                session,
            };
            Ok(Arc::new(bench) as Arc<dyn Bench>)
        })
    }

    fn host(&self) -> Arc<dyn Host> {
        self.runtime.host()
    }

    fn instructions(&self) -> String {
        format!(
            "Tools that run on this machine, in {}. Every call is judged by the policy of the person who \
             runs this server: some are asked about, some are denied, and the error says why. Relative paths \
             start in that folder, or where the last `cd` of the terminal led. A result that is too large is \
             kept in a file, and the answer says where.",
            self.runtime.place().cwd.display()
        )
    }

    fn trouble(&self, what: &str) {
        if let Some(tell) = &self.trouble {
            tell(what);
        }
    }

    fn ring(&self) -> Option<Arc<Ring>> {
        Some(self.runtime.ring())
    }

    fn shelf(&self) -> Option<Arc<dyn Shelf>> {
        self.shelf.clone()
    }
}

/// The session of one client.
struct SessionBench {
    runtime: Runtime,
    session: Session,
    /// What the session is called in the record, if one is kept.
    record: Option<String>,
    recorded: OnceCell<()>,
}

impl SessionBench {
    /// Makes the record before the first call is written into it; whoever only looks leaves none.
    async fn recorded(&self) -> Result<(), String> {
        let (Some(client), Some(store)) = (&self.record, self.runtime.sessions()) else { return Ok(()) };
        let make = || async {
            let new = NewSession {
                id: Some(self.session.id().to_owned()),
                title: Some(format!("MCP: {client} ({})", self.session.id())),
                cwd: Some(self.runtime.place().cwd.display().to_string()),
                ..NewSession::from(SOURCE)
            };
            let made = store.change(move |sessions| sessions.create(&new)).await;
            made.map(drop).map_err(|wrong| wrong.to_string())
        };
        self.recorded.get_or_try_init(make).await.copied()
    }
}

impl Bench for SessionBench {
    fn tools(&self) -> BoxFuture<'_, Arc<Toolbox>> {
        Box::pin(self.session.toolbox())
    }

    fn call<'a>(&'a self, call: ToolCall, cancel: &'a CancellationToken) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            // A call whose session cannot be recorded cannot be recorded either; the road says so.
            let _ = self.recorded().await;
            // Where the client's turns begin is not known, nor what its model still remembers: every
            // call counts as a turn, and shows all that it has to show.
            self.session.new_turn();
            self.session.context_shortened();
            self.session.call_until(call, cancel).await
        })
    }

    fn close(&self) {
        self.session.cancel();
    }
}
