//! Requests over HTTP, through the one door to the network.
//!
//! A call of a tool goes over a connection of its own, so that a kept one which turns out to be closed
//! can never lead to the same call being sent twice.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use futures::stream::{BoxStream, StreamExt as _};
use hermes_core::host::Host;
use hermes_net::{
    Call, HeaderName, HeaderValue, Http, Limits, Method, Overlong, Reply, SseDecoder, StatusCode, Url,
};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpClientTransport,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::config::Remote;
use super::connect::Probe;
use super::fault::{Fate, Fault, NetFault, of_fault};
use super::output::MAX_MESSAGE;
use super::server::Inner;
use crate::mcp::oauth::{Authority, Challenge};

/// Redirects that are followed, all of them within one host.
const MAX_REDIRECTS: usize = 3;

/// How long a stream may stand still: calls have limits of their own, and pings look after the rest.
const STREAM: Duration = Duration::from_hours(24);

/// Times a request is sent with another right to ask, when the one before was not enough.
const MAX_RIGHTS: usize = 3;

/// Asks one server.
#[derive(Clone)]
pub(crate) struct Asker(Arc<Parts>);

struct Parts {
    http: Http,
    headers: Vec<(String, String)>,
    authority: Option<Arc<Authority>>,
    limits: Limits,
    host: Arc<dyn Host>,
    /// How the question which protocol the server speaks is asked, where there is another way to go on.
    probe: Option<Probe>,
    /// Fires when the last request is over.
    _quiet: Option<DropGuard>,
}

/// The transport of a server. `quiet` fires when it has ended, with the session at the server.
pub(super) fn transport(
    server: &Inner,
    remote: &Remote,
    probe: Option<Probe>,
    quiet: CancellationToken,
) -> StreamableHttpClientTransport<Asker> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.clone());
    config.max_sse_event_size = MAX_MESSAGE;
    let parts = Parts { probe, _quiet: Some(quiet.drop_guard()), ..Parts::new(server, remote) };
    StreamableHttpClientTransport::with_client(Asker(Arc::new(parts)), config)
}

impl Parts {
    fn new(server: &Inner, remote: &Remote) -> Self {
        let outside = &server.outside;
        let connect = server.config.connect_timeout.min(Duration::from_secs(30));
        Self {
            http: outside.http_to(remote),
            headers: remote.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            authority: Authority::of(&server.config.name, remote, outside).map(Arc::new),
            limits: Limits { connect, idle: STREAM, total: STREAM },
            host: Arc::clone(&outside.host),
            probe: None,
            _quiet: None,
        }
    }
}

impl Asker {
    pub(super) fn new(server: &Inner, remote: &Remote) -> Self {
        Self(Arc::new(Parts::new(server, remote)))
    }

    /// Sends a message and takes in what comes back, all within one answer.
    async fn post(
        &self,
        request: &Outgoing,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        answer(self.send(request).await?, message, in_session).await
    }

    /// The same for the question which protocol the server speaks. Whatever one says to it that does not
    /// know it, or says nothing, it is then asked in the old way.
    async fn probe(
        &self,
        probe: &Probe,
        request: &Outgoing,
        message: &ClientJsonRpcMessage,
        id: &RequestId,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let asked = Box::pin(self.post(request, message, false));
        let why = match select(asked, self.0.host.sleep(probe.limit)).await {
            Either::Left((Ok(answer), _)) => return Ok(answer),
            Either::Left((Err(fault), _)) => match of_fault(&fault) {
                Fate::Login(_) | Fate::NotSent(_) => return Err(fault),
                Fate::Lost(why) | Fate::Refused(why) => why,
            },
            Either::Right(_) => {
                probe.is_late();
                "it does not answer".to_owned()
            }
        };
        Ok(StreamableHttpPostResponse::Json(Probe::unanswered(id.clone(), &why), None))
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

/// The events of an answer as they come. In place of one that is too long, whoever waits for the answer to
/// this request is told so.
pub(super) fn events(reply: Reply, request: Option<RequestId>) -> BoxStream<'static, Result<Sse, SseError>> {
    struct State {
        reply: Reply,
        request: Option<RequestId>,
        decoder: Option<SseDecoder>,
        ready: std::collections::VecDeque<Sse>,
    }
    let (decoder, ready) = (Some(SseDecoder::default()), std::collections::VecDeque::new());
    let state = State { reply, request, decoder, ready };
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
                        let told =
                            state.request.take().and_then(|id| serde_json::to_string(&too_long(id)).ok());
                        let Some(told) = told else {
                            return Some((Err(SseError::Body(Box::new(Overlong))), state));
                        };
                        state.ready.push_back(Sse { data: Some(told), ..Sse::default() });
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
        match (&message, &self.0.probe) {
            (JsonRpcMessage::Request(it), Some(probe))
                if session_id.is_none() && matches!(it.request, ClientRequest::DiscoverRequest(_)) =>
            {
                self.probe(probe, &request, &message, &it.id).await
            }
            _ => self.post(&request, &message, session_id.is_some()).await,
        }
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
            _ if is_kind(&reply, "text/event-stream") => Ok(events(reply, None)),
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
    let request = match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    if status.is_success() && is_kind(&reply, "text/event-stream") {
        return Ok(StreamableHttpPostResponse::Sse(events(reply, request), session));
    }
    let is_json = is_kind(&reply, "application/json");
    let kind = reply.header("content-type").map(str::to_owned);
    let failed = http_status(&reply, status);
    let body =
        reply.read(MAX_MESSAGE + 1).await.map_err(|error| StreamableHttpError::Client(error.into()))?;
    if !status.is_success() {
        return refused(message, in_session, status, &body, failed);
    }
    let Some(id) = request else { return Ok(StreamableHttpPostResponse::Accepted) };
    if !is_json {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    if body.len() > MAX_MESSAGE {
        return Ok(StreamableHttpPostResponse::Json(too_long(id), session));
    }
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(parsed) => Ok(StreamableHttpPostResponse::Json(parsed, session)),
        Err(error) => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
            "its answer is not a message: {error}"
        )))),
    }
}

/// What is told in place of an answer that is too long.
fn too_long(id: RequestId) -> ServerJsonRpcMessage {
    let why = format!("the answer has more than {MAX_MESSAGE} bytes, which are the most that is taken");
    ServerJsonRpcMessage::error(ErrorData::internal_error(why, None), Some(id))
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
            None if old => Some(ErrorData::invalid_request(format!("HTTP {status}"), None)),
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
