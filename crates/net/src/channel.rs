//! Many requests at once over one connection, by HTTP/2: what services that speak gRPC want.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use h2::RecvStream;
use h2::client::SendRequest;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};

use crate::connect::Protocol;
use crate::http::{Http, HttpError, within};
use crate::url::Url;

/// How much of an answer may be on its way before it is read, and of all answers together.
const WINDOW: u32 = 1 << 20;
const ALL_WINDOWS: u32 = 8 << 20;

/// A connection that carries many requests. Clones share it.
#[derive(Clone)]
pub struct Channel {
    host: String,
    base: String,
    sender: SendRequest<Bytes>,
}

/// The head of an answer, and the body as it comes.
pub struct Answer {
    /// How it went.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    host: String,
    body: RecvStream,
}

impl Http {
    /// Opens a channel to the host of `url`. Nothing moves over it unless the second is driven, which
    /// ends with the connection.
    pub async fn channel(
        &self,
        url: &Url,
        limit: Duration,
    ) -> Result<(Channel, BoxFuture<'static, ()>), HttpError> {
        let stream = self.stream_for(url, limit, None, Protocol::Http2).await?;
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(ALL_WINDOWS).enable_push(false);
        let host = url.host.clone();
        let stalled = HttpError::Stalled { host: host.clone(), after: limit };
        let begun = within(limit, builder.handshake(stream)).await.ok_or(stalled)?;
        let (sender, connection) = begun.map_err(|error| broken(&host, &error))?;
        let base = format!("{}://{}", if url.tls { "https" } else { "http" }, url.authority());
        let driver = Box::pin(async move {
            // What is wrong with it is told to whoever waits for an answer.
            let _ = connection.await;
        });
        Ok((Channel { host, base, sender }, driver))
    }
}

impl Channel {
    /// Posts something and waits for the head of the answer.
    pub async fn send(
        &self,
        path: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<Answer, HttpError> {
        let bad = |why: String| HttpError::BadRequest(why);
        let mut request = Request::post(format!("{}{path}", self.base))
            .version(hyper::Version::HTTP_2)
            .body(())
            .map_err(|error| bad(error.to_string()))?;
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let name = name.map_err(|_| bad("a header has no proper name".into()))?;
            let value = HeaderValue::from_str(value);
            let mut value =
                value.map_err(|_| bad(format!("header {name} has a value that cannot be sent")))?;
            value.set_sensitive(name.as_str().contains("token") || name.as_str() == "authorization");
            request.headers_mut().insert(name, value);
        }
        let failed = |error: h2::Error| broken(&self.host, &error);
        let mut sender = self.sender.clone().ready().await.map_err(failed)?;
        let (answer, mut stream) = sender.send_request(request, false).map_err(failed)?;
        stream.send_data(body, true).map_err(failed)?;
        let (head, body) = answer.await.map_err(failed)?.into_parts();
        Ok(Answer { status: head.status, headers: head.headers, host: self.host.clone(), body })
    }
}

impl Answer {
    /// The next bytes of the body; none at its end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self.body.data().await {
            None => Ok(None),
            Some(Ok(bytes)) => {
                // An answer that is over needs no more room.
                let _ = self.body.flow_control().release_capacity(bytes.len());
                Ok(Some(bytes))
            }
            Some(Err(error)) => Err(broken(&self.host, &error)),
        }
    }

    /// What is said after the body; empty when nothing is.
    pub async fn trailers(&mut self) -> Result<HeaderMap, HttpError> {
        let said = self.body.trailers().await.map_err(|error| broken(&self.host, &error))?;
        Ok(said.unwrap_or_default())
    }
}

fn broken(host: &str, error: &h2::Error) -> HttpError {
    HttpError::Broken { host: host.to_owned(), why: error.to_string() }
}
