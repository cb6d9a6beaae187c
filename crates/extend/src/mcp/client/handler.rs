//! What a server may ask of us while it works.
//!
//! Every question is asked in the name of a call that runs; without one there is nobody to answer for
//! it, and the answer is no. Asking the model, and asking the person, are off unless configured.

#![expect(
    deprecated,
    reason = "servers of older versions of the protocol ask for roots and samples, and log"
)]

use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::cx::ToolCx;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorData, Implementation, InputRequest, JsonObject, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
    Root,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, RwLock, RwLockReadGuard};

use super::Outside;
use super::config::ServerConfig;
use super::elicit::{Elicitation, unasked};
use super::log::Log;
use super::pages::{self, Page};
use super::sampling::Samples;

/// Longest words of progress that are shown.
const MAX_WORDS: usize = 120;

/// Our side of a connection.
pub(crate) struct Client {
    server: String,
    root: String,
    samples: Samples,
    elicitation: Option<Elicitation>,
    log: Arc<Log>,
    /// Calls that run now, the newest last.
    running: Mutex<Vec<Running>>,
    /// Held while a call is sent and not yet among those that run: a quick server may ask about it
    /// before we know that it is on its way.
    sending: RwLock<()>,
    /// The list of tools is not what it was.
    pub(crate) changed: Arc<Notify>,
}

/// A call that runs.
struct Running {
    id: RequestId,
    token: ProgressToken,
    cx: ToolCx,
    /// How far it was last told to be; what is told out of order is not shown.
    far: f64,
}

impl Client {
    pub(crate) fn new(config: &ServerConfig, root: String, log: Arc<Log>, outside: &Outside) -> Self {
        let elicitation = config.elicitation.map(|patience| Elicitation {
            server: config.name.clone(),
            patience,
            host: Arc::clone(&outside.host),
        });
        Self {
            server: config.name.clone(),
            root,
            samples: Samples::new(config, &log, outside),
            elicitation,
            log,
            running: Mutex::default(),
            sending: RwLock::default(),
            changed: Arc::new(Notify::new()),
        }
    }

    /// To be held while a call is sent, until it has [begun](Self::began).
    pub(crate) async fn sending(&self) -> RwLockReadGuard<'_, ()> {
        self.sending.read().await
    }

    /// A call begins; its progress is told to whoever looks on.
    pub(crate) fn began(&self, id: RequestId, token: ProgressToken, cx: ToolCx) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).push(Running {
            id,
            token,
            cx,
            far: f64::MIN,
        });
    }

    /// It is over.
    pub(crate) fn ended(&self, token: &ProgressToken) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).retain(|call| call.token != *token);
    }

    /// The call in whose name something is asked. Where the question did not come on the stream of one it
    /// is the newest; but when calls of several sessions run nobody can say whose it is, and nobody's
    /// person is asked about the affairs of another.
    async fn call(&self, asked: &RequestContext<RoleClient>) -> Option<ToolCx> {
        drop(self.sending.write().await);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = match asked.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => running.iter().find(|call| call.id == *id),
            Some(InboundStreamOrigin::Unassociated) | None => None,
        };
        let newest = || {
            let newest = running.last()?;
            let of_one = running.iter().all(|call| call.cx.session_id() == newest.cx.session_id());
            of_one.then_some(newest)
        };
        origin.or_else(newest).map(|call| call.cx.clone())
    }
}

/// How far a call is, in a few words.
fn words(progress: &ProgressNotificationParam) -> String {
    let number = match progress.total.filter(|total| *total > 0.0) {
        Some(total) => format!("{:.0} %", 100.0 * progress.progress / total),
        None => format!("{}", progress.progress),
    };
    let text = match &progress.message {
        Some(message) if !message.trim().is_empty() => format!("{number} {}", message.trim()),
        _ => number,
    };
    text.chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect()
}

impl Client {
    /// Answers what a server wants to know before it answers this call.
    pub(crate) async fn input(&self, request: InputRequest, cx: &ToolCx) -> Result<Value, ErrorData> {
        let told = |value: Result<Value, serde_json::Error>| {
            value.map_err(|error| ErrorData::internal_error(error.to_string(), None))
        };
        match request {
            InputRequest::CreateMessage(request) => {
                let answer = self.samples.answer(request.params, Some(cx)).await;
                let answer = answer.map_err(|why| ErrorData::invalid_request(why, None))?;
                told(serde_json::to_value(answer))
            }
            InputRequest::Elicitation(request) => {
                told(serde_json::to_value(self.elicit(request.params, Some(cx)).await))
            }
            InputRequest::ListRoots(_) => told(serde_json::to_value(self.roots())),
            _ => Err(ErrorData::invalid_request("this program does not know the question", None)),
        }
    }

    async fn elicit(&self, request: ElicitRequestParams, cx: Option<&ToolCx>) -> ElicitResult {
        if let Some(elicitation) = &self.elicitation {
            return elicitation.answer(request, cx).await;
        }
        if let Some(cx) = cx {
            let why = format!("`mcp_servers.{}.elicitation.enabled` allows it", self.server);
            cx.note(unasked(&self.server, &request, &why));
        }
        Elicitation::declined()
    }

    /// Sends the person who watches this call to pages; why that did not happen.
    pub(super) async fn visit(&self, pages: Vec<Page>, server: &str, cx: &ToolCx) -> Result<(), String> {
        pages::visit(pages, self.elicitation.as_ref(), server, cx).await
    }

    fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(vec![Root::new(self.root.clone())])
    }
}

/// What is answered to a question that the server does not ask any more; nobody listens to it.
fn taken_back() -> ErrorData {
    ErrorData::internal_error("the question was taken back", None)
}

impl rmcp::ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_roots().build();
        if self.samples.are_allowed() {
            let mut sampling = rmcp::model::SamplingCapability::default();
            sampling.tools = self.samples.may_have_tools().then(JsonObject::default);
            capabilities.sampling = Some(sampling);
        }
        if self.elicitation.is_some() {
            capabilities.elicitation = Some(Elicitation::capability());
        }
        ClientConfig::new(capabilities, Implementation::new("hermes", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _cx: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        asked: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let cx = self.call(&asked).await;
        let answer = asked.ct.run_until_cancelled(self.samples.answer(params, cx.as_ref())).await;
        answer.ok_or_else(taken_back)?.map_err(|why| ErrorData::invalid_request(why, None))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        asked: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let cx = self.call(&asked).await;
        let answer = asked.ct.run_until_cancelled(self.elicit(request, cx.as_ref())).await;
        answer.ok_or_else(taken_back)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _cx: NotificationContext<RoleClient>) {
        drop(self.sending.write().await);
        let cx = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let call = running.iter_mut().find(|call| call.token == progress.progress_token);
            call.filter(|call| progress.progress > call.far).map(|call| {
                call.far = progress.progress;
                call.cx.clone()
            })
        };
        if let Some(cx) = cx {
            cx.progress(&words(&progress));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _cx: NotificationContext<RoleClient>,
    ) {
        self.log.line(&format!("[log] {}", message.data));
    }

    async fn on_tool_list_changed(&self, _cx: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _cx: NotificationContext<RoleClient>) {}

    async fn on_resource_list_changed(&self, _cx: NotificationContext<RoleClient>) {}
}
