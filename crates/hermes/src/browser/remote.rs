//! A browser elsewhere, which the person's settings name by its address.
//!
//! It has a network of its own, so there is no gate in front of it: the tools look at every request of
//! its pages instead, as far as the protocol shows them.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, FutureExt as _, select};
use hermes_core::browser::{BrowserLine, Hears, SERVICE};
use hermes_core::permit::{Connect, Permit};
use hermes_core::web::{
    Reach, SocketMessage, SocketReceiver, SocketSender, Web as _, WebError, WebRequest, WebSocket,
};
use hermes_net::Url;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::{Line, MAX_MESSAGE, Used, WorldBrowsers, unused};

/// Longest wait for it to answer at all.
const ANSWER: Duration = Duration::from_secs(15);

/// Reaches it.
pub(super) async fn open(
    browsers: &WorldBrowsers,
    permit: Permit<Connect>,
    address: &str,
    hears: Arc<dyn Hears>,
) -> Result<Arc<dyn BrowserLine>, WebError> {
    let address = socket_address(browsers, &permit, address).await?;
    let request = WebRequest::get(address, Reach::Configured(SERVICE)).timeout(ANSWER).max_bytes(MAX_MESSAGE);
    let WebSocket { sender, receiver } = browsers.web.socket(permit, request).await?;
    let (outgoing, queue) = mpsc::unbounded_channel();
    let (used, idle) = (Used::new(&browsers.machine), browsers.idle());
    let quiet = used.clone();
    browsers.start(
        async move {
            // It ends when everything was said that tools had to say, which closes their tab there.
            let carried = carry(receiver, sender, queue, hears.as_ref());
            let why = match select(carried.boxed(), quiet.idle_for(idle).boxed()).await {
                Either::Left((why, _)) => why,
                Either::Right(_) => unused(idle),
            };
            hears.ended(&why);
        }
        .boxed(),
    )?;
    Ok(Arc::new(Line { outgoing, used, refusals: None, _stop: None }))
}

/// The address of its web socket, which the browser tells when it is asked over http.
async fn socket_address(
    browsers: &WorldBrowsers,
    permit: &Permit<Connect>,
    address: &str,
) -> Result<String, WebError> {
    if address.starts_with("ws://") || address.starts_with("wss://") {
        return Ok(address.to_owned());
    }
    let bad = |why: &str| WebError::Failed(format!("the browser at {address} cannot be used: {why}"));
    let base = Url::parse(address).ok_or_else(|| bad("it is no address"))?;
    let request = WebRequest::get(base.join("/json/version").text(), Reach::Configured(SERVICE));
    let reply = browsers.web.fetch(permit.clone(), request.timeout(ANSWER)).await?;
    let told = reply.json();
    let told = told.as_ref().and_then(|it| it.get("webSocketDebuggerUrl")?.as_str());
    let told = told.and_then(Url::parse).ok_or_else(|| bad("it does not say where its web socket is"))?;
    // It knows itself by the name it was asked under inside its own walls; we stay with ours.
    let scheme = if base.tls { "wss" } else { "ws" };
    Ok(format!("{scheme}://{}{}", base.authority(), told.path))
}

/// Carries messages both ways until one side has had enough; why, in words.
async fn carry(
    mut receiver: Box<dyn SocketReceiver>,
    sender: Arc<dyn SocketSender>,
    mut queue: UnboundedReceiver<String>,
    hears: &dyn Hears,
) -> String {
    let reading = async {
        loop {
            match receiver.next().await {
                Ok(Some(SocketMessage::Text(text))) => hears.message(text),
                Ok(Some(SocketMessage::Binary(_))) => {}
                Ok(None) => return "it closed the connection".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    };
    let writing = async {
        while let Some(message) = queue.recv().await {
            if let Err(error) = sender.send(message).await {
                return error.to_string();
            }
        }
        // Everything was said, and nobody is there to say more.
        sender.close().await;
        "it is no longer needed".to_owned()
    };
    match select(reading.boxed(), writing.boxed()).await {
        Either::Left((why, _)) | Either::Right((why, _)) => why,
    }
}
