//! The requests of a client, one method each.

#![expect(deprecated, reason = "logging is on its way out of the protocol, but clients of today use it")]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::clarify::Asker;
use hermes_core::definitions::Toolbox;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, PromptsCapability, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourcesCapability, ServerCapabilities, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::approval::FormApprover;
use super::client::{Client, FormAsker, Level};
use super::connection::Connection;
use super::seat::{Visitor, Workshop};
use super::shelf::Shelf;
use super::wire::{RequestWire, abilities, is_sessionless, log_from};

/// How often is looked whether tools came or went, while a client wants to know.
const LOOK: Duration = Duration::from_secs(2);

/// The versions of the protocol that are spoken.
const VERSIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// What all clients of one server share.
pub(super) struct Hub {
    pub(super) workshop: Arc<dyn Workshop>,
    pub(super) tasks: TaskTracker,
    /// The session of requests that belong to none, as newer clients make them over HTTP.
    sessionless: OnceCell<Arc<Connection>>,
    /// Fires when the server ends; every call ends with it.
    stopped: CancellationToken,
}

impl Hub {
    pub(super) fn new(workshop: Arc<dyn Workshop>) -> Self {
        Self {
            workshop,
            tasks: TaskTracker::new(),
            sessionless: OnceCell::new(),
            stopped: CancellationToken::new(),
        }
    }

    /// Stops every call, and the session that requests without one share.
    pub(super) fn close(&self) {
        self.stopped.cancel();
        if let Some(shared) = self.sessionless.get() {
            shared.bench.close();
        }
    }
}

/// By which door a client came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// A pipe: there is one client, and it goes when the pipe does.
    Pipe,
    /// HTTP: a request may belong to a session or to none.
    Http,
}

/// Serves one client.
pub(super) struct Server {
    hub: Arc<Hub>,
    door: Door,
    own: OnceCell<Arc<Connection>>,
    log_from: Mutex<Level>,
    /// Whether it is told about changes already.
    told: Mutex<bool>,
    gone: CancellationToken,
}

impl Server {
    pub(super) fn new(hub: Arc<Hub>, door: Door) -> Self {
        let gone = hub.stopped.child_token();
        Self {
            hub,
            door,
            own: OnceCell::new(),
            log_from: Mutex::new(Level::Info),
            told: Mutex::new(false),
            gone,
        }
    }

    /// The session of a request; it is opened with the first one.
    async fn connection(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Connection>, ErrorData> {
        let shared = self.door == Door::Http && is_sessionless(context);
        let place = if shared { &self.hub.sessionless } else { &self.own };
        let open = || async {
            let client = Client::of_this_call();
            // Where every request says itself what its client can do, there is somebody to ask if any
            // of them can; a call whose client cannot is told so by its own line.
            let can_ask = is_sessionless(context) || abilities(context).forms;
            let visitor = Visitor {
                approver: Arc::new(FormApprover(client)),
                asker: can_ask.then(|| Arc::new(FormAsker(client)) as Arc<dyn Asker>),
                client,
                name: context.client_info().map(|client| client.name),
            };
            let bench = self.hub.workshop.open(visitor).await;
            let bench = bench.map_err(|why| ErrorData::internal_error(why, None))?;
            let (tasks, stopped) = (self.hub.tasks.clone(), self.hub.stopped.clone());
            Ok(Arc::new(Connection::new(bench, self.hub.workshop.host(), tasks, stopped)))
        };
        place.get_or_try_init(open).await.cloned()
    }

    /// Tells a client that has seen the tools when they are no longer those, as long as it is there.
    fn tell_changes(&self, connection: &Arc<Connection>, mut known: Arc<Toolbox>, peer: Peer<RoleServer>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *told, true) {
            return;
        }
        let (connection, hub, gone) = (Arc::clone(connection), Arc::clone(&self.hub), self.gone.clone());
        let tell = async move {
            loop {
                changed(&connection, &hub, &mut known).await;
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        self.hub.tasks.spawn(gone.run_until_cancelled_owned(tell));
    }

    fn shelf(&self) -> Option<Arc<dyn Shelf>> {
        self.hub.workshop.shelf()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.gone.cancel();
        if let Some(own) = self.own.get() {
            own.bench.close();
        }
    }
}

/// Ends when the tools are others than those that are known, which they then are.
async fn changed(connection: &Connection, hub: &Hub, known: &mut Arc<Toolbox>) {
    let host = hub.workshop.host();
    loop {
        host.sleep(LOOK).await;
        let now = connection.bench.tools().await;
        if !Arc::ptr_eq(known, &now) && known.json() != now.json() {
            *known = now;
            return;
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let mut can = tools.enable_logging().build();
        if self.shelf().is_some() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            can.resources = Some(resources);
            can.prompts = Some(PromptsCapability::default());
            can.completions = Some(JsonObject::new());
        }
        let mut info = InitializeResult::new(can).with_instructions(self.hub.workshop.instructions());
        info.server_info = Implementation::new("hermes", env!("CARGO_PKG_VERSION"));
        info
    }

    /// The version of 2025-03-26 wants batches of messages to be taken, which no other does and hardly
    /// anybody sends. It is not offered; its clients speak the one before.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.negotiate_initialize(&request)?;
        if request.protocol_version == ProtocolVersion::V_2025_03_26 {
            info.protocol_version = ProtocolVersion::V_2024_11_05;
        }
        context.peer.set_peer_info(request);
        Ok(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let connection = self.connection(&context).await?;
        let toolbox = connection.bench.tools().await;
        let client = abilities(&context);
        connection.listed(&toolbox);
        if !is_sessionless(&context) {
            self.tell_changes(&connection, Arc::clone(&toolbox), context.peer);
        }
        let mut listed = ListToolsResult::with_all_items(super::listing::tools(&toolbox, client));
        listed.meta = self.hub.workshop.ring().and_then(|ring| ring.mark());
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = self.connection(&context).await?;
        let log_from = *self.log_from.lock().unwrap_or_else(PoisonError::into_inner);
        let abilities = abilities(&context);
        connection.call(request, abilities, &RequestWire::new(context, log_from)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(super::requests::not_understood(&request, is_sessionless(&context)))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.log_from.lock().unwrap_or_else(PoisonError::into_inner) = log_from(request.level);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.shelf().map(|shelf| shelf.resources()).unwrap_or_default();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.shelf().map(|shelf| shelf.templates()).unwrap_or_default();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = match self.shelf() {
            Some(offers) => offers.read(&request.uri).await,
            None => None,
        };
        let missing = || {
            let why = format!("there is no resource `{}`", request.uri);
            ErrorData::resource_not_found(why, Some(json!({ "uri": request.uri })))
        };
        Ok(ReadResourceResult::new(found.ok_or_else(missing)?).into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // What is on the shelf does not change while it is there: there will be nothing to tell.
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.shelf().map(|shelf| shelf.prompts()).unwrap_or_default();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let offers = self.shelf().ok_or_else(|| ErrorData::invalid_params("there are no prompts", None))?;
        let prompt = offers.prompt(&request).map_err(|why| ErrorData::invalid_params(why, None))?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(self.shelf().map(|shelf| CompleteResult::new(shelf.complete(&request))).unwrap_or_default())
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let connection = self.connection(context.request_context()).await?;
        let mut known = connection.last_listed().await;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = changed(&connection, &self.hub, &mut known) => {}
            }
            if context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }
}
