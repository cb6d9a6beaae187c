//! The way servers were talked to before: one stream of events from them, and an address to post to.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt as _};
use hermes_net::{Method, Url};
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};
use sse_stream::Sse;
use tokio_util::sync::CancellationToken;

use super::answers::events;
use super::config::Remote;
use super::fault::NetFault;
use super::http::{Asker, Outgoing};
use super::log::Log;
use super::message;
use super::server::{Inner, Trouble};

/// A stream of events and an address.
pub(super) struct Stream {
    asker: Asker,
    post: Arc<str>,
    events: BoxStream<'static, Result<Sse, SseError>>,
    /// Messages that came at once with one that was taken.
    ready: VecDeque<ServerJsonRpcMessage>,
    log: Arc<Log>,
    gone: CancellationToken,
}

/// Opens the stream and waits for the address.
pub(super) async fn open(
    server: &Inner,
    remote: &Remote,
    gone: CancellationToken,
) -> Result<Stream, Trouble> {
    let asker = Asker::new(server, remote);
    let request = Outgoing::new(Method::GET, &remote.url).header("accept", "text/event-stream");
    let reply = asker.send(&request).await.map_err(|error| match error {
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            Trouble::Login("it does not know who asks".to_owned())
        }
        StreamableHttpError::Client(NetFault::OAuth(error)) => Trouble::Login(error.to_string()),
        StreamableHttpError::Client(fault) => Trouble::Unreachable(fault.to_string()),
        other => Trouble::Unreachable(other.to_string()),
    })?;
    if !reply.status.is_success() {
        let hint = if reply.status.is_client_error() {
            "; one of the newer kind is asked without `transport: sse`"
        } else {
            ""
        };
        return Err(Trouble::Unreachable(format!("HTTP {}{hint}", reply.status)));
    }
    let mut events = events(reply, None);
    let base = Url::parse(&remote.url)
        .ok_or_else(|| Trouble::Unreachable("its address is no address".to_owned()))?;
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| Trouble::Unreachable(error.to_string()))?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let told = event.data.unwrap_or_default();
        let post = post_address(&base, &told)
            .ok_or_else(|| Trouble::Unreachable(format!("it wants messages sent to another host: {told}")))?;
        let (log, ready) = (Arc::clone(&server.log), VecDeque::new());
        return Ok(Stream { asker, post: post.into(), events, ready, log, gone });
    }
    Err(Trouble::Unreachable("it never said where to send messages".to_owned()))
}

/// Where messages go: a path, or an address on the same host.
fn post_address(base: &Url, told: &str) -> Option<String> {
    let told = told.trim();
    if told.starts_with('/') {
        return Some(base.with_path(told).text());
    }
    if told.contains("://") {
        let url = Url::parse(told)?;
        return ((url.tls, &url.host, url.port) == (base.tls, &base.host, base.port)).then(|| url.text());
    }
    let folder = base.path.split('?').next()?.rsplit_once('/')?.0;
    Some(base.with_path(&format!("{folder}/{told}")).text())
}

impl Transport<RoleClient> for Stream {
    type Error = StreamableHttpError<NetFault>;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (asker, post) = (self.asker.clone(), Arc::clone(&self.post));
        async move {
            let mut request = Outgoing::new(Method::POST, &post).header("content-type", "application/json");
            request.body = serde_json::to_vec(&item)?;
            request.once = true;
            let reply = asker.send(&request).await?;
            if reply.status.is_success() {
                return Ok(());
            }
            Err(StreamableHttpError::UnexpectedServerResponse(format!("HTTP {}", reply.status).into()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let Some(Ok(event)) = self.events.next().await else { break };
            let data = event.data.unwrap_or_default();
            if data.trim().is_empty() || !matches!(event.event.as_deref(), None | Some("message")) {
                continue;
            }
            match serde_json::from_str(&data) {
                Ok(message) => return Some(message),
                Err(error) => {
                    self.ready.extend(message::again(data.as_bytes()));
                    if self.ready.is_empty() {
                        self.log.line(&format!("[an event that is not a message: {error}]"));
                    }
                }
            }
        }
        self.gone.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.gone.cancel();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_with_the_host_that_was_configured() {
        let base = Url::parse("http://localhost:3000/a/sse").unwrap();

        assert_eq!(post_address(&base, "/m?s=1").as_deref(), Some("http://localhost:3000/m?s=1"));
        assert_eq!(post_address(&base, "m?s=1").as_deref(), Some("http://localhost:3000/a/m?s=1"));
        assert_eq!(
            post_address(&base, "http://localhost:3000/m").as_deref(),
            Some("http://localhost:3000/m")
        );
        assert_eq!(post_address(&base, "http://evil.example/m"), None);
    }
}
