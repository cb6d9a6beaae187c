//! Endpoints of the user's own: `providers.<name>` and `custom_providers`.

use serde_json::{Map, Value};

use super::{SelectError, checked, key};
use crate::endpoint::{Endpoint, wire_of};
use crate::provider::Wire;
use crate::providers;
use crate::secret::Secret;

/// One endpoint in the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedEndpoint {
    /// Its name; `custom:<name>` means it too.
    pub name: String,
    /// `api`, `url` or `base_url`; empty for a known provider whose address stays.
    pub base_url: String,
    /// The variable that holds the key.
    pub key_env: Option<String>,
    /// The key itself.
    pub api_key: Option<Secret>,
    /// `api_mode` or `transport`.
    pub api_mode: Option<String>,
    /// The model taken when none is named.
    pub default_model: Option<String>,
    /// Fields put into every request.
    pub extra_body: Map<String, Value>,
    /// Headers sent with every request.
    pub extra_headers: Vec<(String, String)>,
    /// Most tokens of an answer.
    pub max_output_tokens: Option<u64>,
    /// Whether it may be used.
    pub enabled: bool,
    /// `models.<model>.context_length`
    pub context_lengths: Vec<(String, u64)>,
}

impl NamedEndpoint {
    /// An endpoint at an address, with nothing else set.
    pub fn new(name: &str, base_url: &str) -> Self {
        Self {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            key_env: None,
            api_key: None,
            api_mode: None,
            default_model: None,
            extra_body: Map::new(),
            extra_headers: Vec::new(),
            max_output_tokens: None,
            enabled: true,
            context_lengths: Vec::new(),
        }
    }

    /// Whether `name` means it.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.strip_prefix("custom:").unwrap_or(name).trim())
    }

    pub(super) fn context_of(&self, model: &str) -> Option<u64> {
        self.context_lengths.iter().find(|(name, _)| name == model).map(|(_, context)| *context)
    }

    /// The endpoint without a model.
    pub(super) fn endpoint(
        &self,
        env: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<Endpoint, SelectError> {
        if !self.enabled {
            return Err(SelectError::Disabled(self.name.clone()));
        }
        let known = providers::find(&self.name).filter(|known| known.name() != "custom");
        let Some(provider) = known.or_else(|| providers::find("custom")) else {
            return Err(SelectError::MissingUrl);
        };
        let mut endpoint = Endpoint::of(provider, "", None);
        endpoint.provider.clone_from(&self.name);
        if !self.base_url.trim().is_empty() {
            endpoint = endpoint.at(&checked(&self.base_url)?);
            endpoint.wire = known.map_or_else(|| wire_of(&self.base_url), |known| known.wire);
        } else if known.is_none() {
            return Err(SelectError::MissingUrl);
        }
        if let Some(mode) = self.api_mode.as_deref().filter(|mode| !mode.is_empty() && *mode != "auto") {
            endpoint.wire = Wire::of_mode(mode).ok_or_else(|| SelectError::BadMode(mode.to_owned()))?;
        }
        let from_env = |name: &str| env(name).and_then(|key| Secret::new(&key));
        endpoint.key = self
            .api_key
            .clone()
            .or_else(|| from_env(self.key_env.as_deref()?))
            .or_else(|| known?.key_env.iter().find_map(|name| from_env(name)))
            .or_else(|| key::of_host(&endpoint.base_url, env));
        endpoint.headers.extend(self.extra_headers.iter().cloned());
        endpoint.extra_body.clone_from(&self.extra_body);
        endpoint.max_tokens = self.max_output_tokens;
        Ok(endpoint)
    }
}
