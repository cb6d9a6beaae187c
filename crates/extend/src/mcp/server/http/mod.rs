//! Streamable HTTP: the protocol over a socket, for clients that did not start the server.
//!
//! `visitors.rs` decides who comes in, `token.rs` knows the secret; both are pure. `room.rs` has the
//! places for connections, `sessions.rs` those for sessions; both make room. `kept.rs` has answers that did not
//! arrive, `parting.rs` the end of a connection. Here the socket is served,
//! with a limit for everything: connections, sessions, bytes of a request, time to send its head.

mod answers;
mod kept;
mod parting;
mod room;
mod sessions;
mod token;
mod visitors;

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hermes_core::host::Host;
use hermes_net::Listener;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::handler::{Door, Hub, Server};
use super::message::{self, MAX_MESSAGE, Read, Waits, Wrong};
use super::seat::Workshop;
use super::{ServeError, wind_up};
use crate::letters::mended;
use answers::Answer;
use room::{Room, Seat};
use sessions::Sessions;
use visitors::Visitors;

pub use token::{SHORTEST, Token, TokenError};
pub use visitors::Access;

/// Connections at once; for one more, one that is not at work goes.
const MAX_CONNECTIONS: usize = 128;

/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(20);

/// How long a client that was answered may go on sending.
const PARTING: Duration = Duration::from_secs(10);

/// How a server is reached.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Where it listens; port 0 takes any that is free.
    pub address: SocketAddr,
    /// Who is let in.
    pub access: Access,
    /// Names by which it may be called, beside those of this machine for itself.
    pub names: Vec<String>,
}

/// The header that says which session a request belongs to.
const SESSION: &str = "mcp-session-id";

/// What is behind the door.
struct Inside {
    host: Arc<dyn Host>,
    visitors: Visitors,
    sessions: Arc<Sessions>,
    service: StreamableHttpService<Server, Sessions>,
}

/// Serves clients over HTTP until `stop` fires; `ready` is told where. Must be called inside of an
/// async runtime.
pub async fn serve_http(
    workshop: Arc<dyn Workshop>,
    settings: HttpSettings,
    ready: impl FnOnce(SocketAddr),
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let HttpSettings { address, access, names } = settings;
    let listener = Listener::bind(address)
        .await
        .map_err(|wrong| ServeError::Listen { address: address.to_string(), why: wrong.to_string() })?;
    ready(listener.address());
    let host = workshop.host();
    let hub = Arc::new(Hub::new(workshop));
    let inside = Arc::new(Inside::new(&hub, Visitors { access, names }, &stop));
    let room = Room::new(MAX_CONNECTIONS);
    let come = || async {
        let stream = listener.accept().await;
        (stream, room.seat().await)
    };
    while let Some((stream, seat)) = stop.run_until_cancelled(come()).await {
        hub.tasks.spawn(serve_connection(stream, seat, Arc::clone(&inside), stop.clone()));
    }
    wind_up(&hub, &host).await;
    Ok(())
}

/// Serves one connection until its client goes, somebody else needs its place, or `stop` fires.
async fn serve_connection(stream: TcpStream, seat: Arc<Seat>, inside: Arc<Inside>, stop: CancellationToken) {
    let (sits, host) = (Arc::clone(&seat), Arc::clone(&inside.host));
    let answer = service_fn(move |request| {
        let (inside, work) = (Arc::clone(&inside), sits.works());
        Box::pin(async move {
            Ok::<_, Infallible>(match work {
                Some(work) => work.on(inside.answer(request).await),
                None => answers::crowded(),
            })
        })
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut serving = builder.serve_connection(TokioIo::new(stream), answer);
    // A client that goes away, or speaks something else, is its own affair.
    tokio::select! {
        _ = poll_fn(|cx| serving.poll_without_shutdown(cx)) => {}
        () = seat.goes().cancelled() => return,
        () = stop.cancelled() => {
            std::pin::Pin::new(&mut serving).graceful_shutdown();
            let _ = serving.await;
            return;
        }
    }
    let stream = serving.into_parts().io.into_inner();
    tokio::select! {
        () = parting::part(stream) => {}
        () = host.sleep(PARTING) => {}
        () = seat.goes().cancelled() => {}
        () = stop.cancelled() => {}
    }
}

impl Inside {
    fn new(hub: &Arc<Hub>, visitors: Visitors, stop: &CancellationToken) -> Self {
        let host = hub.workshop.host();
        let sessions = Arc::new(Sessions::new(Arc::clone(&host)));
        // The door has looked at names already; this looks again where the protocol is read.
        let names = visitors.names.iter().map(String::as_str);
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_max_request_body_bytes(MAX_MESSAGE)
            .with_allowed_hosts(["localhost", "127.0.0.1", "::1"].into_iter().chain(names));
        let hub = Arc::clone(hub);
        let newcomer = move || Ok(Server::new(Arc::clone(&hub), Door::Http));
        let service = StreamableHttpService::new(newcomer, Arc::clone(&sessions), config);
        Self { host, visitors, sessions, service }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err(refused) = self.visitors.check(request.uri(), request.headers()) {
            return answers::refused(refused);
        }
        match *request.method() {
            Method::POST if has_json(request.headers()) => self.message(request).await,
            Method::DELETE => match self.service.handle(request).await {
                // Clients take this for a failure.
                ended if ended.status() == StatusCode::ACCEPTED => answers::ended(),
                other => other,
            },
            _ => self.service.handle(request).await,
        }
    }

    /// Answers a message, after a look at what nobody behind the door can say.
    async fn message(&self, request: Request<Incoming>) -> Answer {
        // What says itself that it is too large is refused before it is sent.
        if request.body().size_hint().lower() > MAX_MESSAGE as u64 {
            return answers::too_large();
        }
        let (parts, body) = request.into_parts();
        let body = match Limited::new(body, MAX_MESSAGE).collect().await {
            Ok(body) => body.to_bytes(),
            Err(wrong) if wrong.is::<LengthLimitError>() => return answers::too_large(),
            Err(_) => return answers::cut_off(),
        };
        let text = mended(&body).into_owned();
        match message::read(&text) {
            Read::Wrong(wrong) => answers::wrong(wrong),
            Read::Message(message) => self.serve(parts, &message, text).await,
        }
    }

    async fn serve(&self, parts: Parts, message: &ClientJsonRpcMessage, text: Vec<u8>) -> Answer {
        let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if session.is_none() && message::begins(message) && self.sessions.make_room().await.is_err() {
            return answers::full();
        }
        let begun = session.as_deref().zip(message::request_id(message));
        if let Some((session, id)) = begun
            && let Err(error) = self.sessions.begins(session, id)
        {
            return answers::wrong(Wrong { error, waits: Waits::Request(id.clone()) });
        }
        let answer = self.service.handle(Request::from_parts(parts, Full::new(Bytes::from(text)))).await;
        if let Some((session, id)) = begun
            && answer.status() != StatusCode::OK
        {
            self.sessions.ends(session, id);
        }
        answer
    }
}

/// Whether the body says that it is JSON.
fn has_json(headers: &hyper::HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}
