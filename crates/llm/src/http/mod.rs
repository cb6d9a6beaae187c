//! The one door to the network: requests to models, and nothing else, leave through here.
//!
//! One request, one future: the connection is driven by the future that waits for the answer, so
//! dropping it closes the connection, and no task or thread is left behind. A plain connection to
//! this machine touches neither certificates nor the resolver. Redirects are not followed; a key
//! never reaches a host it was not meant for.

#![expect(clippy::disallowed_methods, reason = "the door to the network, and to the clock that limits it")]

mod connect;
mod exchange;
pub(crate) mod proxy;
mod tls;
pub(crate) mod url;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::time::Instant;

use crate::endpoint::Limits;
use exchange::Exchange;
pub(crate) use exchange::Reply;
use proxy::ProxySettings;
use tls::Tls;
use url::Url;

/// Connections kept for the next request.
const MAX_IDLE: usize = 4;

/// A kept connection older than this is not used again: servers close theirs after a minute or so.
const MAX_IDLE_TIME: Duration = Duration::from_secs(50);

/// How the network is reached.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Proxies.
    pub proxy: ProxySettings,
    /// A file of certificate authorities to trust beyond the usual ones (`SSL_CERT_FILE`).
    pub ca_file: Option<PathBuf>,
}

/// Asks servers. Cheap to make: nothing is loaded or opened before the first request.
pub struct Http {
    settings: HttpSettings,
    tls: Tls,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    host: (bool, String, u16),
    since: Instant,
    exchange: Exchange,
}

/// A request to be sent.
pub(crate) struct Call<'a> {
    pub(crate) url: &'a Url,
    /// None asks with GET.
    pub(crate) body: Option<Bytes>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) limits: Limits,
}

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    /// The server cannot be reached.
    #[error("cannot reach {host}: {why}")]
    Unreachable { host: String, why: String },
    /// It did not answer, or stopped answering.
    #[error("{host} sent nothing for {} s", .after.as_secs_f32())]
    Stalled { host: String, after: Duration },
    /// The whole took too long.
    #[error("{host} was not done after {} s", .after.as_secs())]
    TooLong { host: String, after: Duration },
    /// The connection broke.
    #[error("the connection to {host} broke: {why}")]
    Broken { host: String, why: String },
    /// The request cannot be written.
    #[error("the request cannot be sent: {0}")]
    BadRequest(String),
}

impl Http {
    /// With these settings.
    pub fn new(settings: HttpSettings) -> Self {
        let tls = Tls::new(settings.ca_file.clone());
        Self { settings, tls, idle: Mutex::new(Vec::new()) }
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Reply<'_>, HttpError> {
        let deadline = Instant::now() + call.limits.total;
        let key = (call.url.tls, call.url.host.clone(), call.url.port);
        while let Some(kept) = self.take(&key) {
            // A kept connection may have been closed meanwhile; then a new one is made.
            if let Some(exchange) = kept.still_open().await {
                match exchange.send(&call, deadline).await {
                    Ok(reply) => return Ok(reply.of(self, key)),
                    Err(exchange::SendError::BeforeAnswer) => break,
                    Err(exchange::SendError::Failed(error)) => return Err(error),
                }
            }
        }
        let exchange = connect::open(&self.tls, &self.settings.proxy, call.url, call.limits.connect).await?;
        match exchange.send(&call, deadline).await {
            Ok(reply) => Ok(reply.of(self, key)),
            Err(exchange::SendError::Failed(error)) => Err(error),
            Err(exchange::SendError::BeforeAnswer) => Err(HttpError::Broken {
                host: call.url.host.clone(),
                why: "closed before it answered".into(),
            }),
        }
    }

    fn take(&self, host: &(bool, String, u16)) -> Option<Exchange> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|kept| kept.since.elapsed() < MAX_IDLE_TIME);
        let at = idle.iter().rposition(|kept| kept.host == *host)?;
        Some(idle.remove(at).exchange)
    }

    fn keep(&self, host: (bool, String, u16), exchange: Exchange) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE {
            idle.remove(0);
        }
        idle.push(Idle { host, since: Instant::now(), exchange });
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Seconds since 1970, to understand the dates that servers send.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Waits for `future` no longer than `limit`.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, future).await.ok()
}
