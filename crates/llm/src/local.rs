//! Model servers on this machine, found on the ports they usually listen on.

use std::time::Duration;

use futures::future::join_all;

use crate::catalog::{self, ListedModel};
use crate::endpoint::Endpoint;
use crate::provider::ProviderDef;
use crate::providers::{self, PROVIDERS};
use hermes_net::{Http, within};

/// Nobody waits longer than this for a server that does not answer.
const LIMIT: Duration = Duration::from_millis(150);

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider it is, by its port.
    pub provider: &'static str,
    /// Where it is.
    pub base_url: String,
    /// The models it has, in its order.
    pub models: Vec<ListedModel>,
}

/// The usual places, in the order they are preferred.
pub fn usual_ports() -> Vec<(&'static ProviderDef, u16)> {
    let local = PROVIDERS.iter().filter(|provider| !provider.ports.is_empty());
    let mut places: Vec<_> =
        local.flat_map(|provider| provider.ports.iter().map(|port| (*provider, *port))).collect();
    // The ports that web servers use too come last.
    places.sort_by_key(|(_, port)| matches!(port, 8000 | 8080));
    places
}

/// Asks all places at once which models they have. Where nothing listens, that is known at once;
/// where something listens that is no model server, or does not answer, it is left out.
pub async fn find(http: &Http, places: &[(&'static ProviderDef, u16)]) -> Vec<LocalServer> {
    let asks = places.iter().map(|(provider, port)| async move {
        let base_url = format!("http://127.0.0.1:{port}/v1");
        let endpoint = Endpoint::of(provider, "", None).at(&base_url);
        let models = within(LIMIT, catalog::models(http, &endpoint)).await?.ok()?;
        Some(LocalServer { provider: provider.name(), base_url, models })
    });
    join_all(asks).await.into_iter().flatten().collect()
}

impl LocalServer {
    /// The endpoint of one of its models.
    pub fn endpoint(&self, model: &str) -> Option<Endpoint> {
        let endpoint = Endpoint::of(providers::find(self.provider)?, model, None).at(&self.base_url);
        let context = self.models.iter().find(|known| known.name == model)?.context;
        Some(Endpoint { context: context.or(endpoint.context), ..endpoint })
    }

    /// The model to take when none is named: the first that answers questions, as far as names tell.
    pub fn first_model(&self) -> Option<&str> {
        let answers = |model: &&ListedModel| {
            let name = model.name.to_ascii_lowercase();
            !["embed", "rerank", "whisper", "tts", "bge-", "clip"].iter().any(|word| name.contains(word))
        };
        self.models.iter().find(answers).map(|model| model.name.as_str())
    }
}
