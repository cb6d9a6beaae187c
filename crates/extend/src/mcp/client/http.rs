//! Requests over HTTP, through the one door to the network.
//!
//! A call of a tool goes over a connection of its own, so that a kept one which turns out to be closed
//! can never lead to the same call being sent twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{Either, select};
use futures::stream::BoxStream;
use hermes_core::approval_words::visible;
use hermes_core::host::Host;
use hermes_net::{Call, HeaderName, HeaderValue, Http, Limits, Method, Reply, StatusCode, Url};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpClientTransport,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::answers::{answer, events, http_status, is_kind};
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

/// What is said where the key that a person wrote down is not taken.
const REFUSED_HEADER: &str =
    "it does not take the `Authorization` that is configured under `headers` (HTTP 401)";

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
    /// The server has no stream beside the answers, so that what one does not answer is never answered.
    deaf: AtomicBool,
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
            deaf: AtomicBool::new(false),
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
        let reply = self.send(request).await?;
        if let (JsonRpcMessage::Request(_), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) =
            (message, reply.status)
            && (!in_session || self.0.deaf.load(Ordering::Relaxed))
        {
            let why = format!("it took the request and answers nothing (HTTP {})", reply.status.as_u16());
            return Err(StreamableHttpError::Client(NetFault::Unanswered(why)));
        }
        answer(reply, message, in_session).await
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
            if authority.is_none() && status == StatusCode::UNAUTHORIZED && self.shows_who_asks() {
                return Err(net(NetFault::Odd(REFUSED_HEADER.to_owned())));
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

    /// Whether the configuration says who asks, so that no login would.
    fn shows_who_asks(&self) -> bool {
        self.0.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }

    /// Sends a request, following redirects within the host.
    async fn once(&self, request: &Outgoing, bearer: Option<&str>) -> Result<Reply, Fault> {
        let net = |fault: NetFault| StreamableHttpError::Client(fault);
        let odd = |why: &str| net(NetFault::Odd(why.to_owned()));
        let mut url = Url::parse(&request.url).ok_or_else(|| odd("its address is no address"))?;
        let is_none = |name: &str| HeaderName::from_bytes(name.as_bytes()).is_err();
        if let Some((name, _)) = self.0.headers.iter().find(|(name, _)| is_none(name)) {
            return Err(odd(&format!(
                "`headers` names `{}`, and no header can be called that",
                visible(name)
            )));
        }
        for _ in 0..=MAX_REDIRECTS {
            let mut call = Call::post(&url, request.body.clone(), self.0.limits)
                .method(request.method.clone())
                .header("accept-encoding", "identity")
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
        self.0.deaf.store(!reply.status.is_success(), Ordering::Relaxed);
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
