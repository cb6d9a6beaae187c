//! Requests over HTTP, through the one door to the network.
//!
//! A call of a tool goes over a connection of its own, so that a kept one which turns out to be closed
//! can never lead to the same call being sent twice.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt as _};
use hermes_net::{
    Call, HeaderName, HeaderValue, Http, HttpError, Limits, Method, Overlong, Reply, SseDecoder, StatusCode,
    Url,
};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpClientTransport,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::config::Remote;
use super::output::MAX_MESSAGE;
use super::server::Inner;
use crate::mcp::oauth::{Authority, Challenge, OAuthError};

/// Redirects that are followed, all of them within one host.
const MAX_REDIRECTS: usize = 3;

/// How long a stream may stand still: calls have limits of their own, and pings look after the rest.
const STREAM: Duration = Duration::from_hours(24);

/// Times a request is sent with another right to ask, when the one before was not enough.
const MAX_RIGHTS: usize = 3;

type Fault = StreamableHttpError<NetFault>;

/// What went wrong below the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetFault {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    #[error("{0}")]
    Odd(String),
}

/// What became of a request that failed.
pub(crate) enum Fate {
    /// It never left.
    NotSent(String),
    /// It left, and nobody knows more.
    Lost(String),
    /// Somebody has to log in.
    Login(String),
    /// The server would not take it.
    Refused(String),
}

/// What an error of a transport means for the request.
pub(crate) fn fate(error: &DynamicTransportError) -> Fate {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(current) = cause {
        if current.is::<AuthRequiredError>() || current.is::<InsufficientScopeError>() {
            return Fate::Login("it does not know who asks, or that is not enough".to_owned());
        }
        if let Some(fault) = current.downcast_ref::<Fault>() {
            return of_fault(fault);
        }
        if let Some(fault) = current.downcast_ref::<NetFault>() {
            return of_net(fault);
        }
        cause = current.source();
    }
    Fate::Lost(error.error.to_string())
}

fn of_fault(fault: &Fault) -> Fate {
    match fault {
        StreamableHttpError::Client(net) => of_net(net),
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            Fate::Login("it does not know who asks, or that is not enough".to_owned())
        }
        StreamableHttpError::HttpStatus(status) if status.status == 429 => {
            Fate::Refused("it is asked too often (HTTP 429)".to_owned())
        }
        StreamableHttpError::HttpStatus(status) => Fate::Lost(format!("HTTP {}", status.status)),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            Fate::Refused(text.chars().take(300).collect())
        }
        StreamableHttpError::UnexpectedContentType(kind) => Fate::Refused(format!(
            "it answers with {}, which is not MCP",
            kind.as_deref().unwrap_or("something")
        )),
        other => Fate::Lost(other.to_string()),
    }
}

fn of_net(fault: &NetFault) -> Fate {
    match fault {
        NetFault::Http(
            error @ (HttpError::Unreachable { .. } | HttpError::Refused { .. } | HttpError::BadRequest(_)),
        ) => Fate::NotSent(error.to_string()),
        NetFault::Http(error) => Fate::Lost(error.to_string()),
        NetFault::OAuth(error) => Fate::Login(error.to_string()),
        NetFault::Odd(why) => Fate::Refused(why.clone()),
    }
}

/// Asks one server.
#[derive(Clone)]
pub(crate) struct Asker(Arc<Parts>);

struct Parts {
    http: Http,
    headers: Vec<(String, String)>,
    authority: Option<Arc<Authority>>,
    limits: Limits,
}

/// The transport of a server.
pub(super) fn transport(server: &Inner, remote: &Remote) -> StreamableHttpClientTransport<Asker> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.clone());
    config.max_sse_event_size = MAX_MESSAGE;
    StreamableHttpClientTransport::with_client(Asker::new(server, remote), config)
}

impl Asker {
    pub(super) fn new(server: &Inner, remote: &Remote) -> Self {
        let outside = &server.outside;
        let authority = Authority::of(&server.config.name, remote, outside).map(Arc::new);
        let connect = server.config.connect_timeout.min(Duration::from_secs(30));
        Self(Arc::new(Parts {
            http: outside.http_to(remote),
            headers: remote.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            authority,
            limits: Limits { connect, idle: STREAM, total: STREAM },
        }))
    }

    /// Sends a request with the right to ask, and with a better one if that is not enough.
    pub(super) async fn send(&self, request: &Outgoing) -> Result<Reply, Fault> {
        let net = |fault: NetFault| StreamableHttpError::Client(fault);
        let authority = self.0.authority.as_ref();
        let mut bearer = match authority {
            Some(authority) => authority.bearer().await,
            None => None,
        };
        for round in 0..=MAX_RIGHTS {
            let reply = self.once(request, bearer.as_deref()).await?;
            let status = reply.status;
            if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
                return Ok(reply);
            }
            let told = reply.header("www-authenticate").unwrap_or_default().to_owned();
            let challenge = Challenge::read(&told);
            let not_enough = status == StatusCode::FORBIDDEN;
            if not_enough && !challenge.wants_more() {
                return Ok(reply);
            }
            let fresh = match authority {
                Some(authority) if round < MAX_RIGHTS => {
                    authority.renew(bearer.as_deref(), &challenge).await.map_err(|error| net(error.into()))?
                }
                _ => None,
            };
            let Some(fresh) = fresh else {
                let scope = challenge.scope.clone();
                return Err(if not_enough {
                    StreamableHttpError::InsufficientScope(InsufficientScopeError::new(told, scope))
                } else {
                    StreamableHttpError::AuthRequired(AuthRequiredError::new(told))
                });
            };
            bearer = Some(fresh);
        }
        Err(net(NetFault::Odd("it was never satisfied with who asks".to_owned())))
    }

    /// Sends a request, following redirects within the host.
    async fn once(&self, request: &Outgoing, bearer: Option<&str>) -> Result<Reply, Fault> {
        let net = |fault: NetFault| StreamableHttpError::Client(fault);
        let odd = |why: &str| net(NetFault::Odd(why.to_owned()));
        let mut url = Url::parse(&request.url).ok_or_else(|| odd("its address is no address"))?;
        for _ in 0..=MAX_REDIRECTS {
            let mut call = Call::post(&url, request.body.clone(), self.0.limits)
                .method(request.method.clone())
                .headers(self.0.headers.clone())
                .headers(request.headers.clone());
            if let Some(bearer) = bearer {
                call = call.header("authorization", format!("Bearer {bearer}"));
            }
            if request.once {
                call = call.once();
            }
            let reply = self.0.http.send(call).await.map_err(|error| net(error.into()))?;
            if !matches!(reply.status.as_u16(), 307 | 308) {
                return Ok(reply);
            }
            let target = reply.header("location").unwrap_or_default();
            let onward =
                if target.starts_with('/') { Some(url.with_path(target)) } else { Url::parse(target) };
            let same = |it: &Url| (it.tls, &it.host, it.port) == (url.tls, &url.host, url.port);
            url = onward.filter(same).ok_or_else(|| odd("it sends requests on to another host"))?;
        }
        Err(odd("it sends requests in a circle"))
    }
}

/// A request to be sent.
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) once: bool,
}

impl Outgoing {
    pub(super) fn new(method: Method, url: &str) -> Self {
        Self { method, url: url.to_owned(), headers: Vec::new(), body: Vec::new(), once: false }
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn custom(mut self, headers: HashMap<HeaderName, HeaderValue>) -> Self {
        let readable = |(name, value): (HeaderName, HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let mut more: Vec<(String, String)> = headers.into_iter().filter_map(readable).collect();
        more.sort();
        self.headers.extend(more);
        self
    }
}

/// The events of an answer as they come.
pub(super) fn events(reply: Reply) -> BoxStream<'static, Result<Sse, SseError>> {
    struct State {
        reply: Reply,
        decoder: Option<SseDecoder>,
        ready: std::collections::VecDeque<Sse>,
    }
    let state =
        State { reply, decoder: Some(SseDecoder::default()), ready: std::collections::VecDeque::new() };
    let read = |mut state: State| async move {
        loop {
            if let Some(event) = state.ready.pop_front() {
                return Some((Ok(event), state));
            }
            let decoder = state.decoder.as_mut()?;
            let ready = &mut state.ready;
            match state.reply.next().await {
                Ok(Some(bytes)) => {
                    let pushed = decoder.push(&bytes, |event| ready.push_back(event_of(event)));
                    if let Err(Overlong) = pushed {
                        state.decoder = None;
                        return Some((Err(SseError::Body(Box::new(Overlong))), state));
                    }
                }
                Ok(None) => {
                    if let Some(decoder) = state.decoder.take() {
                        decoder.end(|event| ready.push_back(event_of(event)));
                    }
                    if state.ready.is_empty() {
                        return None;
                    }
                }
                Err(error) => {
                    state.decoder = None;
                    return Some((Err(SseError::Body(Box::new(error))), state));
                }
            }
        }
    };
    futures::stream::unfold(state, read).boxed()
}

fn event_of(event: hermes_net::SseEvent) -> Sse {
    let hermes_net::SseEvent { event, data, id, retry } = event;
    Sse { event: (!event.is_empty()).then_some(event), data: Some(data), id, retry }
}

fn is_kind(reply: &Reply, kind: &str) -> bool {
    reply.header("content-type").is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with(kind))
}

impl StreamableHttpClient for Asker {
    type Error = NetFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut request = Outgoing::new(Method::POST, &uri)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .custom(custom_headers);
        if let Some(session) = &session_id {
            request = request.header("mcp-session-id", session.as_ref());
        }
        request.body = serde_json::to_vec(&message)?;
        request.once = matches!(&message, JsonRpcMessage::Request(it) if matches!(it.request, ClientRequest::CallToolRequest(_)));
        let reply = self.send(&request).await?;
        answer(reply, &message, session_id.is_some()).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        let request = Outgoing::new(Method::DELETE, &uri)
            .header("mcp-session-id", session_id.as_ref())
            .custom(custom_headers);
        // A server that keeps its sessions is its own affair.
        self.send(&request).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let mut request =
            Outgoing::new(Method::GET, &uri).header("accept", "text/event-stream").custom(custom_headers);
        if let Some(session) = session_id {
            request = request.header("mcp-session-id", session.as_ref());
        }
        if let Some(last) = last_event_id {
            request = request.header("last-event-id", last);
        }
        let reply = self.send(&request).await?;
        match reply.status {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(http_status(&reply, status)),
            _ if is_kind(&reply, "text/event-stream") => Ok(events(reply)),
            _ => Err(StreamableHttpError::UnexpectedContentType(
                reply.header("content-type").map(str::to_owned),
            )),
        }
    }
}

fn http_status(reply: &Reply, status: StatusCode) -> Fault {
    let after = reply.header("retry-after").map(str::to_owned);
    rmcp::transport::streamable_http_client::HttpStatusError::new(status.as_u16(), after).into()
}

/// What came back for a message.
async fn answer(
    mut reply: Reply,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Fault> {
    let status = reply.status;
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && in_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let session = reply.header("mcp-session-id").map(str::to_owned);
    let is_request = matches!(message, JsonRpcMessage::Request(_));
    if status.is_success() && is_kind(&reply, "text/event-stream") {
        return Ok(StreamableHttpPostResponse::Sse(events(reply), session));
    }
    let is_json = is_kind(&reply, "application/json");
    let kind = reply.header("content-type").map(str::to_owned);
    let failed = http_status(&reply, status);
    let body = reply.read(MAX_MESSAGE).await.map_err(|error| StreamableHttpError::Client(error.into()))?;
    if !status.is_success() {
        return refused(message, in_session, status, &body, failed);
    }
    if !is_request {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if !is_json {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(parsed) => Ok(StreamableHttpPostResponse::Json(parsed, session)),
        Err(error) => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
            "its answer is not a message: {error}"
        )))),
    }
}

/// An answer with a status that is no success: an error of the protocol where the body is one.
fn refused(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    body: &[u8],
    failed: Fault,
) -> Result<StreamableHttpPostResponse, Fault> {
    let parsed = serde_json::from_slice::<ServerJsonRpcMessage>(body).ok();
    let error = parsed.and_then(|parsed| match parsed {
        JsonRpcMessage::Error(error) => Some(error.error),
        _ => None,
    });
    if let JsonRpcMessage::Request(request) = message {
        let probing = matches!(request.request, ClientRequest::DiscoverRequest(_));
        let old = probing && !in_session && status.is_client_error();
        let error = match error {
            Some(error) => Some(error),
            // An old server does not know the question; it is then asked in the old way.
            None if old => Some(rmcp::ErrorData::invalid_request(format!("HTTP {status}"), None)),
            None => None,
        };
        if let Some(error) = error {
            // A refusal before the message was looked at cannot name it.
            let told = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(told, None));
        }
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(failed);
    }
    let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}: {text}"))))
}
