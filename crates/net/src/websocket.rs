//! Web sockets over a connection of ours.

use std::time::Duration;

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::connect::{AddressRule, NetStream};
use crate::http::{Http, HttpError, within};
use crate::url::Url;

/// A web socket, in two halves that may be used at the same time.
pub struct Socket {
    /// Sends.
    pub sender: SocketSender,
    /// Receives.
    pub receiver: SocketReceiver,
}

/// The sending half.
pub struct SocketSender {
    host: String,
    half: SplitSink<WebSocketStream<NetStream>, Message>,
}

/// The receiving half.
pub struct SocketReceiver {
    host: String,
    half: SplitStream<WebSocketStream<NetStream>>,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

impl Http {
    /// Opens a web socket at `url`, whose scheme stands for `ws` or `wss`. A message may be as long as
    /// `max_message` bytes.
    pub async fn socket(
        &self,
        url: &Url,
        headers: &[(String, String)],
        limit: Duration,
        max_message: usize,
        rule: Option<&AddressRule>,
    ) -> Result<Socket, HttpError> {
        let stream = self.stream(url, limit, rule).await?;
        let bad = |why: String| HttpError::BadRequest(why);
        let scheme = if url.tls { "wss" } else { "ws" };
        let address = format!("{scheme}://{}{}", url.authority(), url.path);
        let mut request = address.into_client_request().map_err(|error| bad(error.to_string()))?;
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let name = name.map_err(|_| bad("a header has no proper name".into()))?;
            let value = HeaderValue::from_str(value);
            let value = value.map_err(|_| bad(format!("header {name} has a value that cannot be sent")))?;
            request.headers_mut().insert(name, value);
        }
        let config =
            WebSocketConfig::default().max_message_size(Some(max_message)).max_frame_size(Some(max_message));
        let opened = within(limit, client_async_with_config(request, stream, Some(config))).await;
        let host = url.host.clone();
        let stalled = HttpError::Stalled { host: host.clone(), after: limit };
        let (socket, _) = opened.ok_or(stalled)?.map_err(|error| broken(&host, &error))?;
        let (send, receive) = socket.split();
        Ok(Socket {
            sender: SocketSender { host: host.clone(), half: send },
            receiver: SocketReceiver { host, half: receive },
        })
    }
}

impl SocketSender {
    /// Sends a text.
    pub async fn send(&mut self, text: String) -> Result<(), HttpError> {
        self.half.send(Message::text(text)).await.map_err(|error| broken(&self.host, &error))
    }

    /// Sends bytes.
    pub async fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<(), HttpError> {
        self.half.send(Message::binary(bytes)).await.map_err(|error| broken(&self.host, &error))
    }

    /// Says goodbye; one that is gone already does not mind.
    pub async fn close(&mut self) {
        let _ = self.half.close().await;
    }
}

impl SocketReceiver {
    /// The next message; none when the other side has closed.
    pub async fn next(&mut self) -> Result<Option<Frame>, HttpError> {
        loop {
            match self.half.next().await {
                None | Some(Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed)) => {
                    return Ok(None);
                }
                Some(Ok(Message::Text(text))) => return Ok(Some(Frame::Text(text.as_str().to_owned()))),
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(Frame::Binary(bytes.to_vec()))),
                // Pings are answered by the library.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(broken(&self.host, &error)),
            }
        }
    }
}

fn broken(host: &str, error: &Error) -> HttpError {
    HttpError::Broken { host: host.to_owned(), why: error.to_string() }
}
