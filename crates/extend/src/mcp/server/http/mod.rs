//! Streamable HTTP: the protocol over a socket, for clients that did not start the server.
//!
//! `visitors.rs` decides who comes in, `token.rs` knows the secret; both are pure. Here the socket is
//! served, with a limit for everything: connections, sessions, bytes of a request, time to send its
//! head.

mod token;
mod visitors;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hermes_net::Listener;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::handler::{Door, Hub, Server};
use super::seat::Workshop;
use super::{ServeError, wind_up};
use visitors::Visitors;

pub use token::{SHORTEST, Token, TokenError};
pub use visitors::Access;

/// Most bytes of one request.
const MAX_REQUEST: usize = 16 * 1024 * 1024;

/// Connections at once; one more waits.
const MAX_CONNECTIONS: usize = 128;

/// Sessions at once; one more is refused.
const MAX_SESSIONS: usize = 64;

/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(20);

/// A session that nothing was heard of for so long is over.
const IDLE: Duration = Duration::from_hours(1);

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

type Served = StreamableHttpService<Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

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
    let visitors = Arc::new(Visitors { access, names });
    let service = service(&hub, &visitors.names, &stop);
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Some(Ok(place)) = stop.run_until_cancelled(Arc::clone(&room).acquire_owned()).await else {
            break;
        };
        let Some(stream) = stop.run_until_cancelled(listener.accept()).await else { break };
        let (service, visitors, stop) = (service.clone(), Arc::clone(&visitors), stop.clone());
        hub.tasks.spawn(async move {
            let answer = service_fn(move |request| answer(service.clone(), Arc::clone(&visitors), request));
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
            let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), answer));
            // A client that goes away, or speaks something else, is its own affair.
            tokio::select! {
                _ = serving.as_mut() => {}
                () = stop.cancelled() => {
                    serving.as_mut().graceful_shutdown();
                    let _ = serving.await;
                }
            }
            drop(place);
        });
    }
    wind_up(&hub, &host).await;
    Ok(())
}

/// The protocol behind the door.
fn service(hub: &Arc<Hub>, names: &[String], stop: &CancellationToken) -> Served {
    let (hub, places) = (Arc::clone(hub), Arc::new(Semaphore::new(MAX_SESSIONS)));
    let newcomer = move || {
        let place = Arc::clone(&places).try_acquire_owned();
        let place = place.map_err(|_| std::io::Error::other("too many sessions are open"))?;
        Ok(Server::new(Arc::clone(&hub), Door::Http, Some(place)))
    };
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    // The door has looked at names already; this looks again where the protocol is read.
    let hosts = ["localhost", "127.0.0.1", "::1"].into_iter().chain(names.iter().map(String::as_str));
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.child_token())
        .with_max_request_body_bytes(MAX_REQUEST)
        .with_allowed_hosts(hosts);
    StreamableHttpService::new(newcomer, Arc::new(sessions), config)
}

async fn answer(
    service: Served,
    visitors: Arc<Visitors>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    match visitors.check(request.uri(), request.headers()) {
        Ok(()) => Ok(service.handle(request).await),
        Err(refused) => {
            let mut answer = Response::new(Full::new(Bytes::from_static(refused.why().as_bytes())).boxed());
            *answer.status_mut() = refused.status();
            answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/plain"));
            if refused == visitors::Refused::Token {
                let realm = hyper::header::HeaderValue::from_static("Bearer realm=\"hermes\"");
                answer.headers_mut().insert(WWW_AUTHENTICATE, realm);
            }
            Ok(answer)
        }
    }
}
