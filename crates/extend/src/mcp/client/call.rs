//! One request to a server: sent once, taken back when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::select;
use hermes_core::cx::ToolCx;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification,
    CancelledNotificationParam, ClientRequest, GetPromptRequestParams, GetPromptResult, ProgressToken,
    ReadResourceRequestParams, ReadResourceResult, Request, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};

use super::fault::{Fate, fate};
use super::lane::{self, Ended, Lane};
use super::message;
use super::pages::{self, Page};
use super::server::{Inner, Live, Server, Trouble};

/// How often a person is sent to pages for one request.
const VISITS: usize = 2;

/// How long it may take to tell a server that nobody waits any more.
const TELLING: Duration = Duration::from_secs(1);

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server cannot be asked; nothing was sent.
    #[error("the server cannot be reached, and the call was not sent: {0}")]
    Unreachable(String),
    /// Somebody has to log in.
    #[error("{0}")]
    Login(String),
    /// The connection broke while the server was at work.
    #[error(
        "the connection broke before the server answered ({why}). It may or may not have done what was \
         asked; it was {}. Find out before you repeat it",
        if *.twice { "asked twice" } else { "not asked again" }
    )]
    MayHaveRun {
        /// How it broke.
        why: String,
        /// Whether it was asked once more, because twice is the same as once, and that broke too.
        twice: bool,
    },
    /// The definition is not the one that was agreed to.
    #[error(
        "its definition has changed since it was agreed to; a person can look at the change with \
         `hermes mcp tools {0}` and agree with `hermes mcp tools {0} --accept`"
    )]
    HeldBack(String),
    /// The server said no.
    #[error("{0}")]
    Refused(String),
}

impl From<Trouble> for CallError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unreachable(why) => Self::Unreachable(why),
            Trouble::Login(why) => Self::Login(why),
        }
    }
}

/// How a request ended without an answer.
enum Broken {
    /// It never left.
    NotSent(String),
    /// It left, and nobody knows more.
    Lost(String),
    Login(String),
    Refused(String),
    /// It was not carried out: somebody has to visit these pages first.
    Pages(Vec<Page>),
}

impl Server {
    /// Calls a tool.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        cx: &ToolCx,
    ) -> Result<CallToolResult, CallError> {
        let repeat = self.inner.known().may_repeat(tool);
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut request = Box::new(ClientRequest::CallToolRequest(Request::new(params)));
        match self.ask_on(&mut request, cx, repeat).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            other => {
                let read = serde_json::to_value(&other).ok().and_then(|value| message::result(&value));
                read.ok_or_else(|| odd(&other))
            }
        }
    }

    /// Whether a tool is the one that was agreed to. What a server offers is known for sure only once it
    /// has been started.
    pub(super) async fn may_call(&self, tool: &str) -> Result<(), CallError> {
        drop(self.inner.live().await?);
        if self.inner.holds_back(tool) {
            return Err(CallError::HeldBack(self.config().name.clone()));
        }
        Ok(())
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: String, cx: &ToolCx) -> Result<ReadResourceResult, CallError> {
        let params = ReadResourceRequestParams::new(uri);
        let mut request = ClientRequest::ReadResourceRequest(Request::new(params));
        match self.ask_on(&mut request, cx, true).await? {
            ServerResult::ReadResourceResult(result) => Ok(result),
            other => Err(odd(&other)),
        }
    }

    /// Fills in a prompt.
    pub(super) async fn prompt(
        &self,
        name: String,
        arguments: Map<String, Value>,
        cx: &ToolCx,
    ) -> Result<GetPromptResult, CallError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let mut request = ClientRequest::GetPromptRequest(Request::new(params));
        match self.ask_on(&mut request, cx, true).await? {
            ServerResult::GetPromptResult(result) => Ok(result),
            other => Err(odd(&other)),
        }
    }

    /// Sends a request; again only when it never left, or when twice is the same as once.
    pub(super) async fn ask(
        &self,
        request: &ClientRequest,
        cx: &ToolCx,
        repeat: bool,
    ) -> Result<ServerResult, CallError> {
        let (mut again, mut visits, mut lost) = (true, 0, None);
        loop {
            let live = match (self.inner.live().await, &lost) {
                (Ok(live), _) => live,
                (Err(_), Some(why)) => {
                    return Err(CallError::MayHaveRun { why: String::clone(why), twice: false });
                }
                (Err(trouble), None) => return Err(trouble.into()),
            };
            // Nothing large is kept while pages are visited: a call makes room for all that it may come to.
            let pages = match self.inner.once(&live, request, cx).await {
                Ok(result) => {
                    self.inner.answered();
                    return Ok(result);
                }
                Err(Broken::Refused(why)) => return Err(CallError::Refused(why)),
                Err(Broken::Pages(_)) if visits >= VISITS => {
                    let why = format!("it still wants pages to be visited, after {VISITS} visits");
                    return Err(CallError::Refused(why));
                }
                Err(Broken::Pages(pages)) => pages,
                Err(Broken::Login(why)) => {
                    self.inner.login_needed(&why);
                    return Err(CallError::Login(why));
                }
                Err(Broken::NotSent(why)) => {
                    self.inner.shaken(&live, &why);
                    if !std::mem::take(&mut again) {
                        // What was sent before may have run, also when this was not.
                        return Err(match lost {
                            Some(why) => CallError::MayHaveRun { why, twice: false },
                            None => CallError::Unreachable(why),
                        });
                    }
                    continue;
                }
                Err(Broken::Lost(why)) => {
                    self.inner.shaken(&live, &why);
                    if !repeat || !std::mem::take(&mut again) {
                        return Err(CallError::MayHaveRun { why, twice: lost.is_some() });
                    }
                    lost = Some(why);
                    continue;
                }
            };
            visits += 1;
            let visited = Box::pin(live.client.visit(pages, &self.config().name, cx)).await;
            visited.map_err(CallError::Refused)?;
        }
    }
}

impl Inner {
    async fn once(
        &self,
        live: &Arc<Live>,
        request: &ClientRequest,
        cx: &ToolCx,
    ) -> Result<ServerResult, Broken> {
        match (request, &live.lane) {
            (ClientRequest::CallToolRequest(call), Some(lane)) => {
                self.by_lane(live, lane, call, cx).await.map(ServerResult::CallToolResult)
            }
            // Apart, so that a call on the short way does not carry room for it.
            _ => Box::pin(self.by_service(live, request.clone(), cx)).await,
        }
    }

    /// A call over the short way.
    async fn by_lane(
        &self,
        live: &Arc<Live>,
        lane: &Arc<Lane>,
        call: &CallToolRequest,
        cx: &ToolCx,
    ) -> Result<CallToolResult, Broken> {
        let id = lane.number();
        let waiting = Waiting::new(live, RequestId::Number(id), lane::token(id), cx, self.outside.host.now());
        let ended = match lane.send(id, &call.params) {
            Err(why) => Some(Ended::Odd(why)),
            Ok(mut sent) => {
                cx.sent();
                tokio::select! {
                    biased;
                    ended = sent.ended() => ended,
                    () = live.gone.cancelled() => None,
                }
            }
        };
        waiting.over();
        match ended {
            Some(Ended::Answered(result)) => Ok(result),
            Some(Ended::Refused(error)) => Err(refused(&error)),
            Some(Ended::Odd(why)) => {
                Err(Broken::Refused(format!("its answer is not one to this question: {why}")))
            }
            Some(Ended::NotSent(why)) => Err(Broken::NotSent(why)),
            Some(Ended::Lost(why)) => Err(Broken::Lost(why)),
            None => Err(self.gone()),
        }
    }

    /// A request over the way of the SDK.
    async fn by_service(
        &self,
        live: &Arc<Live>,
        request: ClientRequest,
        cx: &ToolCx,
    ) -> Result<ServerResult, Broken> {
        let not_sent = |_| Broken::NotSent("the connection was closed".to_owned());
        let options = PeerRequestOptions::no_options();
        let sending = live.client.sending().await;
        let handle = live.service.send_request_with_option(request, options).await.map_err(not_sent)?;
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let waiting = Waiting::new(live, id, token, cx, self.outside.host.now());
        drop(sending);
        cx.sent();
        let answer = tokio::select! {
            biased;
            answer = handle.rx => answer.ok(),
            () = live.gone.cancelled() => None,
        };
        waiting.over();
        match answer {
            Some(Ok(result)) => Ok(result),
            Some(Err(ServiceError::McpError(error))) => Err(refused(&error)),
            Some(Err(ServiceError::TransportSend(error))) => Err(match fate(&error) {
                Fate::NotSent(why) => Broken::NotSent(why),
                Fate::Lost(why) => Broken::Lost(why),
                Fate::Login(why) => Broken::Login(why),
                Fate::Refused(why) => Broken::Refused(why),
            }),
            Some(Err(other)) => Err(Broken::Lost(other.to_string())),
            None => Err(self.gone()),
        }
    }

    /// The other side went before it answered.
    fn gone(&self) -> Broken {
        let last = self.log.last().map(|line| format!("; it last said: {line}")).unwrap_or_default();
        Broken::Lost(format!("it is gone{last}"))
    }
}

/// A request on its way. Dropped before it is over, it is taken back.
struct Waiting {
    live: Arc<Live>,
    id: RequestId,
    token: ProgressToken,
    open: bool,
}

impl Waiting {
    fn new(live: &Arc<Live>, id: RequestId, token: ProgressToken, cx: &ToolCx, now: Duration) -> Self {
        live.busy.fetch_add(1, Ordering::AcqRel);
        *live.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = now;
        live.client.began(id.clone(), token.clone(), cx.clone());
        Self { live: Arc::clone(live), id, token, open: true }
    }

    /// Nothing more will come of it.
    fn over(mut self) {
        self.open = false;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.live.busy.fetch_sub(1, Ordering::AcqRel);
        self.live.client.ended(&self.token);
        if let (Some(lane), RequestId::Number(id)) = (&self.live.lane, &self.id) {
            lane.forget(*id);
        }
        if !self.open {
            return;
        }
        let why = Some("the caller no longer waits for it".to_owned());
        let taken_back =
            CancelledNotification::new(CancelledNotificationParam::new(Some(self.id.clone()), why));
        let peer = self.live.service.peer().clone();
        let live = Arc::clone(&self.live);
        let told = async move {
            let sent = Box::pin(peer.send_notification(taken_back.into()));
            // One that reads nothing any more is asked all the same whether it is there.
            drop(select(sent, live.host.sleep(TELLING)).await);
            live.doubt.notify_one();
        };
        self.live.parting.spawn_on(told, &self.live.handle);
    }
}

/// What the SDK says in the server's place to whoever waits when another request has it begin a new session: what
/// became of the call in the old one nobody knows.
const BEGUN_ANEW: &str = "streamable HTTP session was re-initialized before the response arrived";

/// What an error of the server means.
fn refused(error: &rmcp::ErrorData) -> Broken {
    match pages::wanted(error) {
        None if error.message == BEGUN_ANEW => {
            Broken::Lost("its session ended before it answered".to_owned())
        }
        Some(pages) => Broken::Pages(pages),
        None => Broken::Refused(said(error)),
    }
}

/// What a server says about why not.
pub(super) fn said(error: &rmcp::ErrorData) -> String {
    match &error.data {
        Some(data) if !data.is_null() => format!("{} ({data})", error.message),
        _ => error.message.to_string(),
    }
}

fn odd(result: &ServerResult) -> CallError {
    let text = serde_json::to_string(result).unwrap_or_default();
    let text: String = text.chars().take(200).collect();
    CallError::Refused(format!("its answer is not one to this question: {text}"))
}
