//! Large results, kept in the state folder off the async threads.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::host::{self, Host};
use hermes_core::road::Spill;
use hermes_store::Home;

/// Keeps what is too large for an answer below the home.
pub(crate) struct HomeSpill {
    pub(crate) home: Home,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) max_bytes: u64,
}

impl Spill for HomeSpill {
    fn keep<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<PathBuf, String>> {
        let place = hermes_store::Spill::open(&self.home, session).with_limit(self.max_bytes);
        let id = id.to_owned();
        Box::pin(async move {
            let kept = host::blocking(&self.host, move || place.keep(&id, &text)).await;
            kept.map_err(|lost| lost.to_string())?.map_err(|wrong| wrong.to_string())
        })
    }
}
