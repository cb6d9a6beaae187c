//! An endpoint: everything needed to ask one model somewhere.

use std::time::Duration;

use hermes_core::model::Price;
use serde_json::{Map, Value};

use crate::provider::{ProviderDef, Quirks, Wire};
use crate::secret::Secret;
use hermes_net::{Limits, Url};

/// One model at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The provider's name, or the name the user gave the endpoint.
    pub provider: String,
    /// The model, in the provider's words.
    pub model: String,
    /// The language spoken there.
    pub wire: Wire,
    /// Where it is.
    pub base_url: String,
    /// The key, when there is one.
    pub key: Option<Secret>,
    /// Where it differs from its wire.
    pub quirks: Quirks,
    /// Headers beyond the usual ones.
    pub headers: Vec<(String, String)>,
    /// Fields put into every request body, over ours.
    pub extra_body: Map<String, Value>,
    /// Size of the context in tokens, when known.
    pub context: Option<u64>,
    /// Most tokens of an answer, when the request does not say.
    pub max_tokens: Option<u64>,
    /// How hard to think, when the request does not say.
    pub effort: Option<String>,
    /// Whether it looks at pictures.
    pub sees: bool,
    /// What it costs, when known.
    pub price: Option<Price>,
    /// How long to keep marked parts in the cache: `5m` or `1h`.
    pub cache_ttl: CacheTtl,
    /// Whether to ask for a stream.
    pub stream: bool,
    /// How long to wait for what.
    pub limits: Limits,
}

impl Endpoint {
    /// The endpoint of a known provider for one of its models.
    pub fn of(provider: &ProviderDef, model: &str, key: Option<Secret>) -> Self {
        let known = provider.model(model);
        let base_url = provider.base_url.to_owned();
        Self {
            provider: provider.name().to_owned(),
            model: model.to_owned(),
            wire: provider.wire,
            limits: patience(is_local(&base_url), model),
            base_url,
            key,
            quirks: provider.quirks,
            headers: provider.headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            extra_body: Map::new(),
            context: known.map(|known| known.context),
            max_tokens: None,
            effort: None,
            sees: known.map_or_else(|| probably_sees(model), |known| known.sees),
            price: known.and_then(|known| known.price),
            cache_ttl: CacheTtl::default(),
            stream: true,
        }
    }

    /// Moves it to another address.
    pub fn at(mut self, base_url: &str) -> Self {
        base_url.trim().trim_end_matches('/').clone_into(&mut self.base_url);
        self.limits = patience(self.is_local(), &self.model);
        self
    }

    /// Whether it is on this machine or in its own network.
    pub fn is_local(&self) -> bool {
        is_local(&self.base_url)
    }

    /// Who answers, for records: signatures go back only to whom they came from.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// How long marked parts stay cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheTtl {
    /// Five minutes.
    #[default]
    Short,
    /// An hour.
    Long,
}

/// Names of models that think long before the first word.
const LONG_THINKERS: &[&str] =
    &["o1", "o3", "o4", "gpt-5", "-r1", "reasoner", "thinking", "qwq", "deep-research"];

/// The usual limits: more patience for models on this machine and for those that think long.
fn patience(local: bool, model: &str) -> Limits {
    let model = model.to_ascii_lowercase();
    let idle = if local {
        900
    } else if LONG_THINKERS.iter().any(|word| model.contains(word)) {
        600
    } else {
        180
    };
    Limits {
        connect: Duration::from_secs(30),
        idle: Duration::from_secs(idle),
        total: Duration::from_mins(30),
    }
}

/// More patience for a long conversation, whose first word takes longer.
pub(crate) fn patience_for(mut limits: Limits, tokens: u64) -> Limits {
    let least = match tokens {
        0..=50_000 => 0,
        50_001..=100_000 => 240,
        _ => 300,
    };
    // A limit set below the usual ones was set on purpose.
    if limits.idle >= Duration::from_mins(3) {
        limits.idle = limits.idle.max(Duration::from_secs(least));
    }
    limits
}

/// Whether an address is on this machine or in its own network: loopback, private, link-local and
/// carrier-grade addresses, names without a dot, `.local` and its like.
pub fn is_local(base_url: &str) -> bool {
    Url::parse(base_url).is_some_and(|url| url.is_local())
}

/// Whether a model of which only the name is known looks at pictures.
pub(crate) fn probably_sees(model: &str) -> bool {
    const NAMES: [&str; 20] = [
        "vision",
        "-vl",
        "vl-",
        "2.5vl",
        "gpt-4o",
        "gpt-4.1",
        "gpt-5",
        "claude",
        "gemini",
        "gemma3",
        "gemma-3",
        "llava",
        "pixtral",
        "llama-4",
        "llama4",
        "minicpm-v",
        "internvl",
        "moondream",
        "molmo",
        "mistral-small3",
    ];
    let model = model.to_ascii_lowercase();
    NAMES.iter().any(|name| model.contains(name))
}

/// The wire spoken at an address of the user's own, as far as the address tells.
pub fn wire_of(base_url: &str) -> Wire {
    let Some(url) = Url::parse(base_url) else { return Wire::Chat };
    let path = url.path.trim_end_matches('/');
    if url.host == "api.anthropic.com" || path.ends_with("/anthropic") || path.ends_with("/anthropic/v1") {
        Wire::Messages
    } else if url.host == "api.openai.com" || url.host == "api.x.ai" {
        Wire::Responses
    } else {
        Wire::Chat
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{is_local, patience, patience_for, wire_of};
    use crate::provider::Wire;

    #[test]
    fn an_address_tells_its_wire() {
        let told = [
            ("https://api.openai.com/v1", Wire::Responses),
            ("https://api.x.ai/v1", Wire::Responses),
            ("https://api.anthropic.com", Wire::Messages),
            ("https://api.minimax.io/anthropic", Wire::Messages),
            ("https://proxy.example.com/anthropic/v1/", Wire::Messages),
            ("http://127.0.0.1:8080/v1", Wire::Chat),
            ("nonsense", Wire::Chat),
        ];

        for (url, wire) in told {
            assert_eq!(wire_of(url), wire, "{url}");
        }
    }

    #[test]
    fn local_addresses_are_known() {
        for url in [
            "http://localhost:11434/v1",
            "http://127.0.0.1:1234",
            "http://[::1]:8080/v1",
            "http://192.168.1.5/v1",
            "http://10.0.0.2:8000",
            "http://100.64.0.1/v1",
            "http://169.254.1.1/",
            "http://nas/v1",
            "https://box.local/v1",
            "http://[fd00::1]/v1",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "https://api.openai.com/v1",
            "http://8.8.8.8/v1",
            "http://100.128.0.1",
            "https://local.example.com",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn patience_grows_with_the_conversation_and_the_model() {
        let usual = patience(false, "gpt-4.1");

        assert_eq!(usual.idle, Duration::from_mins(3));
        assert_eq!(patience_for(usual, 60_000).idle, Duration::from_mins(4));
        assert_eq!(patience_for(usual, 200_000).idle, Duration::from_mins(5));
        assert_eq!(patience(false, "deepseek-reasoner").idle, Duration::from_mins(10));
        assert_eq!(patience(true, "qwen3").idle, Duration::from_mins(15));
    }
}
