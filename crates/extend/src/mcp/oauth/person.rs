//! A person with a browser on this machine, or with another one and an address to copy.

use std::sync::Mutex;

use futures::future::{BoxFuture, Either, select};
use hermes_net::{Callback, Url};

use super::Person;
use crate::mcp::client::OAuth;

/// What the browser shows at the end.
const PAGE: &str = "<!doctype html><title>hermes</title><p>You are logged in. This page can be closed.</p>";

/// Shows the person an address.
pub type Show = Box<dyn Fn(&str) + Send + Sync>;

/// The address that a person copies back by hand, if they do.
pub type Pasted = BoxFuture<'static, Option<String>>;

/// Waits for the browser on this machine, or for the address to be copied back.
pub struct Browser {
    door: Callback,
    redirect: String,
    path: String,
    show: Show,
    pasted: Mutex<Option<Pasted>>,
}

impl Browser {
    /// Opens the door that the browser comes back through. Must be called inside the runtime.
    pub async fn open(config: &OAuth, show: Show, pasted: Option<Pasted>) -> Result<Self, String> {
        let configured = config.redirect_uri.as_deref().and_then(Url::parse);
        let port = config.redirect_port.or_else(|| configured.as_ref().map(|url| url.port));
        let door = Callback::open(port).await.map_err(|why| format!("no port to come back to: {why}"))?;
        let host = config.redirect_host.as_deref().unwrap_or("127.0.0.1");
        let (redirect, path) = match (&config.redirect_uri, configured) {
            (Some(uri), Some(url)) => (uri.clone(), url.path.split('?').next().unwrap_or("/").to_owned()),
            _ => (format!("http://{host}:{}/callback", door.port()), "/callback".to_owned()),
        };
        Ok(Self { door, redirect, path, show, pasted: Mutex::new(pasted) })
    }
}

impl Person for Browser {
    fn redirect_uri(&self) -> String {
        self.redirect.clone()
    }

    fn visit(&self, page: &str) -> BoxFuture<'_, Result<String, String>> {
        (self.show)(page);
        let pasted = self.pasted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        Box::pin(async move {
            let browser = Box::pin(self.door.wait(&self.path, PAGE));
            let Some(pasted) = pasted else { return browser.await };
            match select(browser, pasted).await {
                Either::Left((back, _)) => back,
                Either::Right((Some(back), _)) => Ok(back),
                // Nobody pastes anything: the browser may still come.
                Either::Right((None, browser)) => browser.await,
            }
        })
    }
}
