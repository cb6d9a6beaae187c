//! Asking servers.
//!
//! One request, one future: the connection is driven by the future that waits for the answer, so
//! dropping it closes the connection, and no task or thread is left behind. A plain connection to
//! this machine touches neither certificates nor the resolver. Redirects are not followed; a key
//! never reaches a host it was not meant for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::Method;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::connect::{self, AddressRule, NetStream, Protocol};
use crate::exchange::{Exchange, Reply, SendError};
use crate::names::Names;
use crate::proxy::ProxySettings;
use crate::tls::{Tls, TlsSettings};
use crate::url::Url;

/// Connections kept for the next request.
const MAX_IDLE: usize = 4;

/// A kept connection older than this is not used again: servers close theirs after a minute or so.
const MAX_IDLE_TIME: Duration = Duration::from_secs(50);

/// How the network is reached.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Proxies.
    pub proxy: ProxySettings,
    /// Encryption.
    pub tls: TlsSettings,
    /// How names are looked up.
    pub names: Names,
}

/// Asks servers. Cheap to make: nothing is loaded or opened before the first request. Clones share
/// their connections.
#[derive(Clone)]
pub struct Http(Arc<Inner>);

struct Inner {
    settings: HttpSettings,
    tls: Tls,
    idle: Mutex<Vec<Idle>>,
}

/// Which requests may share a connection: same host, and the same care about its address.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Place {
    tls: bool,
    host: String,
    port: u16,
    checked: bool,
}

struct Idle {
    place: Place,
    since: Instant,
    exchange: Exchange,
}

/// A request to be sent.
#[derive(Clone)]
pub struct Call<'a> {
    /// How to ask.
    pub method: Method,
    /// Whom.
    pub url: &'a Url,
    /// Headers beyond `Host` and the length.
    pub headers: Vec<(String, String)>,
    /// What is sent with it; may be empty.
    pub body: Bytes,
    /// How long to wait for what.
    pub limits: Limits,
    /// Which addresses may be connected to; asked about each one that the host's name has, at the
    /// moment of connecting.
    pub rule: Option<AddressRule>,
    /// It must not reach the server twice: it goes over a connection of its own, since one that was
    /// kept may turn out to be closed only after the request was written.
    pub once: bool,
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the connection.
    pub connect: Duration,
    /// For the next bytes, the first ones too, while a stream stands still.
    pub idle: Duration,
    /// For the whole answer.
    pub total: Duration,
}

impl<'a> Call<'a> {
    /// Asks for what is there.
    pub fn get(url: &'a Url, limits: Limits) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: Vec::new(),
            body: Bytes::new(),
            limits,
            rule: None,
            once: false,
        }
    }

    /// Sends something.
    pub fn post(url: &'a Url, body: impl Into<Bytes>, limits: Limits) -> Self {
        Self { method: Method::POST, body: body.into(), ..Self::get(url, limits) }
    }

    /// Asks in another way.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds headers.
    pub fn headers(mut self, headers: impl IntoIterator<Item = (String, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Only to addresses that the rule lets through.
    pub fn only(mut self, rule: AddressRule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// It must not reach the server twice.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    fn place(&self) -> Place {
        let Url { tls, host, port, .. } = self.url;
        Place { tls: *tls, host: host.clone(), port: *port, checked: self.rule.is_some() }
    }
}

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The server cannot be reached.
    #[error("cannot reach {host}: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// Its address may not be connected to.
    #[error("{host} must not be reached: {why}")]
    Refused {
        /// The host.
        host: String,
        /// What the rule said.
        why: String,
    },
    /// It did not answer, or stopped answering.
    #[error("{host} sent nothing for {} s", .after.as_secs_f32())]
    Stalled {
        /// The host.
        host: String,
        /// How long it was silent.
        after: Duration,
    },
    /// The whole took too long.
    #[error("{host} was not done after {} s", .after.as_secs())]
    TooLong {
        /// The host.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// The connection broke.
    #[error("the connection to {host} broke: {why}")]
    Broken {
        /// The host.
        host: String,
        /// How.
        why: String,
    },
    /// The request cannot be written.
    #[error("the request cannot be sent: {0}")]
    BadRequest(String),
}

impl Http {
    /// With these settings.
    pub fn new(settings: HttpSettings) -> Self {
        let tls = Tls::new(settings.tls.clone());
        Self(Arc::new(Inner { settings, tls, idle: Mutex::new(Vec::new()) }))
    }

    /// As these variables say it: proxies, and a file of authorities to trust as well (`SSL_CERT_FILE`).
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Self {
        let ca_file = variable("SSL_CERT_FILE").filter(|file| !file.is_empty()).map(Into::into);
        let tls = TlsSettings { ca_file, ..TlsSettings::default() };
        Self::new(HttpSettings { proxy: ProxySettings::from_env(variable), tls, names: Names::default() })
    }

    /// The same network, encrypted in another way. It has connections of its own.
    pub fn with_tls(&self, change: impl FnOnce(&mut TlsSettings)) -> Self {
        let mut settings = self.0.settings.clone();
        change(&mut settings.tls);
        Self::new(settings)
    }

    /// Sends a request and waits for the head of the answer.
    pub async fn send(&self, call: Call<'_>) -> Result<Reply, HttpError> {
        let deadline = Instant::now() + call.limits.total;
        let place = call.place();
        while let Some(kept) = if call.once { None } else { self.take(&place) } {
            // A kept connection may have been closed meanwhile; then a new one is made.
            if let Some(exchange) = kept.still_open().await {
                match exchange.send(&call, deadline).await {
                    Ok(reply) => return Ok(reply.of(self.clone(), place)),
                    Err(SendError::BeforeAnswer) => break,
                    Err(SendError::Failed(error)) => return Err(error),
                }
            }
        }
        let exchange = {
            let stream = self.stream(call.url, call.limits.connect, call.rule.as_ref()).await?;
            let broken = |why| HttpError::Broken { host: call.url.host.clone(), why };
            Exchange::over(stream, &call.url.host).await.map_err(broken)?
        };
        match exchange.send(&call, deadline).await {
            Ok(reply) => Ok(reply.of(self.clone(), place)),
            Err(SendError::Failed(error)) => Err(error),
            Err(SendError::BeforeAnswer) => Err(HttpError::Broken {
                host: call.url.host.clone(),
                why: "closed before it answered".into(),
            }),
        }
    }

    /// A connection to `url` for another protocol: encrypted where the address says so, through the
    /// proxy where there is one.
    pub async fn stream(
        &self,
        url: &Url,
        limit: Duration,
        rule: Option<&AddressRule>,
    ) -> Result<NetStream, HttpError> {
        self.stream_for(url, limit, rule, Protocol::Http1).await
    }

    pub(crate) async fn stream_for(
        &self,
        url: &Url,
        limit: Duration,
        rule: Option<&AddressRule>,
        protocol: Protocol,
    ) -> Result<NetStream, HttpError> {
        connect::open(&self.0.tls, &self.0.settings, url, limit, rule, protocol).await
    }

    /// A connection to `url` just as it is, for somebody who encrypts it or not.
    pub(crate) async fn bare_stream(
        &self,
        url: &Url,
        limit: Duration,
        rule: &AddressRule,
    ) -> Result<TcpStream, HttpError> {
        connect::bare(&self.0.settings, url, limit, rule).await
    }

    /// Encrypts a connection of another protocol from here on. The certificate must be one of `host`.
    pub(crate) async fn encrypt(
        &self,
        stream: NetStream,
        host: &str,
        limit: Duration,
    ) -> Result<NetStream, HttpError> {
        let late = || HttpError::TooLong { host: host.to_owned(), after: limit };
        let work = connect::encrypt(&self.0.tls, stream, host);
        tokio::time::timeout(limit, work).await.map_err(|_| late())?
    }

    fn take(&self, place: &Place) -> Option<Exchange> {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|kept| kept.since.elapsed() < MAX_IDLE_TIME);
        let at = idle.iter().rposition(|kept| kept.place == *place)?;
        Some(idle.remove(at).exchange)
    }

    pub(crate) fn keep(&self, place: Place, exchange: Exchange) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE {
            idle.remove(0);
        }
        idle.push(Idle { place, since: Instant::now(), exchange });
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

/// Seconds since 1970, to understand the dates that servers send.
pub fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Bytes that nobody can guess; nothing when the machine has none to give.
pub fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Waits for `future` no longer than `limit`.
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, future).await.ok()
}
