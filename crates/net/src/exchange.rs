//! One connection and what is said over it.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, Fuse, FusedFuture as _, FutureExt as _, select};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};

use crate::http::{Call, Http, HttpError, Place};

/// Most headers of an answer, and most bytes of them.
const MAX_HEADERS: usize = 128;
const READ_BUFFER: usize = 256 * 1024;

type Driver = Fuse<Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>>;

/// A connection that can carry a request.
pub(crate) struct Exchange {
    host: String,
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
}

/// Why a request got no answer.
pub(crate) enum SendError {
    /// The connection closed before a byte of the answer: a kept one may just have been too old.
    BeforeAnswer,
    /// For good.
    Failed(HttpError),
}

impl Exchange {
    /// Begins to speak HTTP over a stream.
    pub(crate) async fn over<S>(stream: S, host: &str) -> Result<Self, String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let begun = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_buf_size(READ_BUFFER)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = begun.map_err(|error| error.to_string())?;
        let driver: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(connection);
        Ok(Self { host: host.to_owned(), sender, driver: driver.fuse() })
    }

    /// Itself, unless the server has closed it meanwhile.
    pub(crate) async fn still_open(mut self) -> Option<Self> {
        let closed = self.driver.is_terminated() || futures::poll!(&mut self.driver).is_ready();
        (!closed && self.sender.is_ready()).then_some(self)
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(mut self, call: &Call<'_>, deadline: Instant) -> Result<Reply, SendError> {
        let failed = SendError::Failed;
        let request = request(call).map_err(failed)?;
        let answer = self.sender.send_request(request);
        let both = select(Box::pin(answer), &mut self.driver);
        let wait = call.limits.idle.min(deadline.saturating_duration_since(Instant::now()));
        let answer = match timeout(wait, both).await {
            Err(_) => {
                return Err(failed(HttpError::Stalled { host: self.host, after: wait }));
            }
            Ok(Either::Left((answer, _))) => answer,
            // The driver ended first; the answer tells why, or is there all the same.
            Ok(Either::Right((_, answer))) => answer.await,
        };
        match answer {
            Ok(response) => {
                let (head, body) = response.into_parts();
                Ok(Reply {
                    status: head.status,
                    headers: head.headers,
                    body,
                    exchange: Some(self),
                    idle: call.limits.idle,
                    deadline,
                    total: call.limits.total,
                    home: None,
                })
            }
            Err(error) if error.is_canceled() || error.is_closed() || error.is_incomplete_message() => {
                Err(SendError::BeforeAnswer)
            }
            Err(error) => Err(failed(HttpError::Broken { host: self.host, why: cause(&error) })),
        }
    }
}

fn request(call: &Call<'_>) -> Result<Request<Full<Bytes>>, HttpError> {
    let bad = |why: &str| HttpError::BadRequest(why.to_owned());
    let mut request = Request::new(Full::new(call.body.clone()));
    *request.method_mut() = call.method.clone();
    *request.uri_mut() = call.url.path.parse().map_err(|_| bad("its path is no path"))?;
    let headers = request.headers_mut();
    let host = HeaderValue::from_str(&call.url.authority()).map_err(|_| bad("its host is no host"))?;
    headers.insert(hyper::header::HOST, host);
    for (name, value) in &call.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("a header has no proper name"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| HttpError::BadRequest(format!("header {name} has a value that cannot be sent")))?;
        value.set_sensitive(matches!(name.as_str(), "authorization" | "x-api-key" | "cookie"));
        headers.insert(name, value);
    }
    Ok(request)
}

/// The head of an answer, and the body as it comes.
pub struct Reply {
    /// How it went.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
    exchange: Option<Exchange>,
    idle: Duration,
    deadline: Instant,
    total: Duration,
    home: Option<(Http, Place)>,
}

impl Reply {
    /// When it is read to its end, the connection goes back to `http`.
    pub(crate) fn of(self, http: Http, place: Place) -> Self {
        Self { home: Some((http, place)), ..self }
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next bytes of the body; none at its end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let Some(exchange) = self.exchange.as_mut() else { return Ok(None) };
            let host = || exchange.host.clone();
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(HttpError::TooLong { host: host(), after: self.total });
            }
            let both = select(self.body.frame(), &mut exchange.driver);
            let frame = match timeout(self.idle.min(left), both).await {
                Err(_) if left <= self.idle => {
                    return Err(HttpError::TooLong { host: host(), after: self.total });
                }
                Err(_) => return Err(HttpError::Stalled { host: host(), after: self.idle }),
                Ok(Either::Left((frame, _))) => frame,
                // The connection is done; what is left of the body is already here.
                Ok(Either::Right(_)) => continue,
            };
            match frame {
                None => {
                    self.give_back();
                    return Ok(None);
                }
                Some(Err(error)) => return Err(HttpError::Broken { host: host(), why: cause(&error) }),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// The body as far as `most` bytes of it.
    pub async fn read(&mut self, most: usize) -> Result<Vec<u8>, HttpError> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            let room = most.saturating_sub(whole.len());
            whole.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
            if whole.len() >= most {
                break;
            }
        }
        Ok(whole)
    }

    fn give_back(&mut self) {
        let Some(exchange) = self.exchange.take() else { return };
        let closes = self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if let Some((http, place)) = self.home.take()
            && !closes
        {
            http.keep(place, exchange);
        }
    }
}

fn cause(error: &hyper::Error) -> String {
    use std::error::Error as _;
    match error.source() {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    }
}
