//! The network as tools reach it: behind a permit for the host they declared, never around the rules
//! for addresses.
//!
//! Tools that fetch what a model or a page named say [`Reach::Open`]: only the open internet answers,
//! and every redirect is judged again. Tools that talk to a service which the person configured say
//! [`Reach::Configured`]: it may stand on their own network, and redirects to other hosts are not followed.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::permit::{Connect, Permit};

/// Talks to servers.
pub trait Web: Send + Sync {
    /// Judges an address that a model or a stranger named, and that somebody else is to fetch for us.
    fn judge(&self, url: &str) -> Result<(), WebError>;

    /// Asks, and reads the whole answer.
    fn fetch(
        &self,
        permit: Permit<Connect>,
        request: WebRequest,
    ) -> BoxFuture<'_, Result<WebReply, WebError>>;

    /// Asks, and hands the answer on piece by piece as it comes. The body of the reply is empty.
    fn stream<'a>(
        &'a self,
        permit: Permit<Connect>,
        request: WebRequest,
        each: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<WebReply, WebError>>;

    /// Opens a web socket (`ws://` or `wss://`).
    fn socket(
        &self,
        permit: Permit<Connect>,
        request: WebRequest,
    ) -> BoxFuture<'_, Result<WebSocket, WebError>>;

    /// Opens a connection for a protocol of its own, such as that of mail.
    fn connect(&self, _: Permit<Connect>, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        let why = format!("{} cannot be reached from here: only http is spoken", dial.host);
        Box::pin(std::future::ready(Err(WebError::Failed(why))))
    }
}

/// Whom to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dial {
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether the connection is encrypted from its first byte.
    pub encrypted: bool,
    /// The service it is declared as: only services that the settings name are connected to so.
    pub service: &'static str,
    /// Longest wait for the connection, and for each answer.
    pub timeout: Duration,
}

/// An open connection: bytes both ways. Dropping it closes it.
pub trait Wire: Send {
    /// Writes all of it.
    fn write(&mut self, bytes: Vec<u8>) -> BoxFuture<'_, Result<(), WebError>>;

    /// The next bytes; none when the other side has closed.
    fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, WebError>>;

    /// Encrypts from here on, and checks that the other side is who it was meant to be.
    fn encrypt(&mut self) -> BoxFuture<'_, Result<(), WebError>>;

    /// When it was opened by the clock on the wall, since 1970.
    fn opened(&self) -> Duration;
}

/// How far a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The open internet: addresses that a model or a stranger named.
    Open,
    /// Where the person's own settings point: a service that is declared as an effect under this name,
    /// because only the settings know its address.
    Configured(&'static str),
}

impl Reach {
    /// What a call has to declare before it may ask for `url`.
    pub fn declares(self, url: &str) -> Option<String> {
        match self {
            Self::Open => host_in(url),
            Self::Configured(service) => Some(service.to_owned()),
        }
    }
}

/// The host that an address names, in lower case, with the port where it says one. What it is worth
/// is judged by whoever connects.
pub fn host_in(url: &str) -> Option<String> {
    let (_, rest) = url.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebRequest {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// Where.
    pub url: String,
    /// Headers beyond the usual ones.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Vec<u8>,
    /// How far it may go.
    pub reach: Reach,
    /// Most redirects to follow.
    pub redirects: u8,
    /// Longest wait for the whole answer.
    pub timeout: Duration,
    /// Most bytes of the answer that are read.
    pub max_bytes: usize,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebReply {
    /// Its status code.
    pub status: u16,
    /// Where it came from in the end.
    pub url: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as far as it was read.
    pub body: Vec<u8>,
    /// Whether there was more of it.
    pub cut: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The rules do not let it be asked.
    #[error("{url}: {why}")]
    Refused {
        /// What was to be fetched.
        url: String,
        /// Which rule, in words.
        why: String,
    },
    /// It cannot be reached, or broke off.
    #[error("{0}")]
    Failed(String),
    /// It took too long.
    #[error("{0}")]
    TimedOut(String),
}

/// An open web socket. The two halves may be used at the same time.
pub struct WebSocket {
    /// Sends.
    pub sender: Arc<dyn SocketSender>,
    /// Receives.
    pub receiver: Box<dyn SocketReceiver>,
}

/// The sending half.
pub trait SocketSender: Send + Sync {
    /// Sends a text message.
    fn send(&self, text: String) -> BoxFuture<'_, Result<(), WebError>>;

    /// Says goodbye.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The receiving half.
pub trait SocketReceiver: Send {
    /// The next message; none when the other side has closed.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, WebError>>;
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketMessage {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

impl WebRequest {
    /// Asks for what is there, with limits that fit a page.
    pub fn get(url: impl Into<String>, reach: Reach) -> Self {
        Self {
            method: "GET",
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            reach,
            redirects: 5,
            timeout: Duration::from_secs(30),
            max_bytes: 8 * 1024 * 1024,
        }
    }

    /// Sends a JSON document.
    pub fn post_json(url: impl Into<String>, reach: Reach, body: &serde_json::Value) -> Self {
        Self { method: "POST", body: body.to_string().into_bytes(), ..Self::get(url, reach) }
            .header("content-type", "application/json")
    }

    /// Asks in another way.
    pub fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Waits no longer than this for the whole answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Reads no more than this.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

impl WebReply {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the server was content.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Reach, host_in};

    #[test]
    fn what_a_call_declares_is_the_host_it_names() {
        let hosts = [
            ("https://Example.com/a?b#c", Some("example.com")),
            ("http://user:word@example.com:8080", Some("example.com:8080")),
            ("http://[::1]:9/x", Some("[::1]:9")),
            (r"http://a.example\@b.example/", Some("a.example")),
            ("https:///x", None),
            ("example.com", None),
        ];

        for (url, host) in hosts {
            assert_eq!(host_in(url).as_deref(), host, "{url}");
        }
        assert_eq!(Reach::Configured("search").declares("http://10.0.0.1/").as_deref(), Some("search"));
    }
}
