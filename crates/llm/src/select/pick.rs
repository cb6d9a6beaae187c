//! The rules of the choice, one decision after another.

use hermes_core::suggest::suggest;

use super::{Choice, SelectError, Selected, Sources, checked, key};
use crate::endpoint::{Endpoint, probably_sees, wire_of};
use crate::provider::{ProviderDef, Wire};
use crate::providers::{self, PROVIDERS};
use crate::secret::Secret;
use hermes_net::Url;

/// Whose key counts first when there are several.
const FIRST: [&str; 3] = ["openrouter", "openai-api", "anthropic"];

/// Makes the choice, and notes why.
pub(super) struct Picker<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) why: Vec<String>,
}

/// Where a value came from, in words.
type From = &'static str;

impl Picker<'_> {
    pub(super) fn pick(mut self) -> Result<Selected, SelectError> {
        let sources = self.sources;
        let (mut provider, mut from) = self.provider();
        // `--model provider:model` names both.
        let split = sources.flags.model.as_deref().and_then(|model| model.split_once(':'));
        let split = split.filter(|_| from != "--provider");
        let mut flagged_model = None;
        if let Some((name, model)) = split
            && self.knows(name)
        {
            (provider, from) = (Some(name.to_owned()), "--model");
            flagged_model = Some(model.to_owned());
        }
        // What the settings say about one endpoint is not for another.
        let ours = from == "--provider" || from == "--model" || sources.flags.base_url.is_some();
        let own_url =
            sources.flags.base_url.clone().or_else(|| sources.config.base_url.clone().filter(|_| !ours));
        let is_custom = provider
            .as_deref()
            .is_none_or(|name| providers::find(name).is_some_and(|p| p.name() == "custom"));
        let endpoint = match (provider, own_url) {
            (Some(name), url) if !is_custom => {
                self.why.push(format!("provider {name}: {from}"));
                self.of_name(&name, url.as_deref(), ours)?
            }
            (_, Some(url)) => {
                self.why.push(format!("provider custom: an address is set ({url})"));
                self.custom(&url, ours)?
            }
            (Some(_), None) => return Err(SelectError::MissingUrl),
            (None, None) => match self.by_key() {
                Some(endpoint) => endpoint,
                None => return Ok(Selected::Unconfigured),
            },
        };
        Ok(self.with_model(endpoint, flagged_model, ours))
    }

    fn knows(&self, name: &str) -> bool {
        providers::find(name).is_some() || self.sources.named.iter().any(|named| named.is(name))
    }

    fn provider(&self) -> (Option<String>, From) {
        let real = |name: &String| !name.trim().is_empty() && !name.eq_ignore_ascii_case("auto");
        let sources = self.sources;
        if let Some(name) = sources.flags.provider.clone().filter(real) {
            (Some(name), "--provider")
        } else if let Some(name) = sources.config.provider.clone().filter(real) {
            (Some(name), "model.provider")
        } else if let Some(name) = (sources.env)("HERMES_INFERENCE_PROVIDER").filter(real) {
            (Some(name), "HERMES_INFERENCE_PROVIDER")
        } else {
            (None, "auto")
        }
    }

    pub(super) fn model(&self) -> Option<(String, From)> {
        let real = |name: &String| !name.trim().is_empty();
        let env = || (self.sources.env)("HERMES_INFERENCE_MODEL").filter(real);
        let flag = self.sources.flags.model.clone().filter(real).map(|model| (model, "--model"));
        flag.or_else(|| Some((env()?, "HERMES_INFERENCE_MODEL")))
            .or_else(|| Some((self.sources.config.model.clone().filter(real)?, "model.default")))
    }

    /// A provider or endpoint by name.
    fn of_name(&mut self, name: &str, url: Option<&str>, ours: bool) -> Result<Endpoint, SelectError> {
        let short = name.strip_prefix("custom:").unwrap_or(name);
        if let Some(named) = self.sources.named.iter().find(|named| named.is(short)) {
            let endpoint = named.endpoint(self.sources.env)?;
            return self.with_key_and_mode(endpoint, ours);
        }
        let Some(provider) = providers::find(name) else { return Err(self.unknown(name)) };
        let env_url = provider
            .url_env
            .and_then(|env| Some((env, (self.sources.env)(env).filter(|v| !v.trim().is_empty())?)));
        let mut endpoint = Endpoint::of(provider, "", None);
        if let Some(url) = url {
            endpoint = endpoint.at(&checked(url)?);
        } else if let Some((env, url)) = env_url {
            self.why.push(format!("address: {env}"));
            endpoint = endpoint.at(&checked(&key::address(provider, &url))?);
        }
        endpoint.key = self.key(provider, ours);
        let endpoint = self.with_key_and_mode(endpoint, ours)?;
        let needs_key = !provider.key_env.is_empty() && provider.ports.is_empty() && !endpoint.is_local();
        if needs_key && endpoint.key.is_none() {
            return Err(SelectError::MissingKey {
                provider: provider.label.to_owned(),
                env: provider.key_env.join(" or "),
                page: provider.key_page.to_owned(),
            });
        }
        Ok(endpoint)
    }

    fn unknown(&self, name: &str) -> SelectError {
        let mut known: Vec<&str> =
            PROVIDERS.iter().flat_map(|p| p.aliases.iter().copied().chain([p.name()])).collect();
        known.extend(self.sources.named.iter().map(|named| named.name.as_str()));
        let suggestions = suggest(name, known, 3).into_iter().map(str::to_owned).collect();
        SelectError::UnknownProvider { name: name.to_owned(), suggestions }
    }

    /// The address of the user's own.
    fn custom(&mut self, url: &str, ours: bool) -> Result<Endpoint, SelectError> {
        let url = checked(url)?;
        let Some(provider) = providers::find("custom") else { return Err(SelectError::MissingUrl) };
        // A known provider's address has its quirks, wherever it was written.
        let host = Url::parse(&url).map(|url| url.host).unwrap_or_default();
        let same = |known: &&&ProviderDef| {
            Url::parse(known.base_url).is_some_and(|known| !known.is_loopback() && known.host == host)
        };
        let known = PROVIDERS.iter().find(same).copied();
        let mut endpoint = Endpoint::of(known.unwrap_or(provider), "", None).at(&url);
        endpoint.wire = wire_of(&url);
        endpoint.key =
            known.and_then(|known| self.key(known, ours)).or_else(|| key::of_host(&url, self.sources.env));
        self.with_key_and_mode(endpoint, ours)
    }

    fn key(&mut self, provider: &ProviderDef, ours: bool) -> Option<Secret> {
        let set = self.sources.config.api_key.is_some() && !ours;
        if self.sources.flags.api_key.is_some() || set {
            return None;
        }
        let found =
            provider.key_env.iter().find_map(|env| Some((env, Secret::new(&(self.sources.env)(env)?)?)));
        let (env, key) = found?;
        self.why.push(format!("key: {env}"));
        Some(key)
    }

    fn with_key_and_mode(&mut self, mut endpoint: Endpoint, ours: bool) -> Result<Endpoint, SelectError> {
        let (flags, config) = (self.sources.flags, self.sources.config);
        if let Some(key) = flags.api_key.clone().or_else(|| config.api_key.clone().filter(|_| !ours)) {
            self.why.push("key: set beside the address".to_owned());
            endpoint.key = Some(key);
        }
        let mode = flags.api_mode.as_ref().or(config.api_mode.as_ref().filter(|_| !ours));
        if let Some(mode) = mode.filter(|mode| !mode.is_empty() && *mode != "auto") {
            endpoint.wire = Wire::of_mode(mode).ok_or_else(|| SelectError::BadMode(mode.clone()))?;
            self.why.push(format!("wire {}: api_mode", endpoint.wire.mode()));
        }
        Ok(endpoint)
    }

    /// The first provider whose key is there, well-known ones first; else the first endpoint of the
    /// user's own.
    fn by_key(&mut self) -> Option<Endpoint> {
        let hosted =
            PROVIDERS.iter().filter(|provider| provider.ports.is_empty() && !provider.key_env.is_empty());
        let mut hosted: Vec<_> = hosted.collect();
        hosted.sort_by_key(|provider| {
            FIRST.iter().position(|name| *name == provider.name()).unwrap_or(FIRST.len())
        });
        for provider in hosted {
            let found = provider
                .key_env
                .iter()
                .find(|env| (self.sources.env)(env).is_some_and(|key| Secret::new(&key).is_some()));
            if let Some(env) = found {
                self.why.push(format!("provider {}: {env} is set", provider.name()));
                return self.of_name(provider.name(), None, false).ok();
            }
        }
        let named = self.sources.named.iter().find(|named| named.enabled)?;
        let endpoint = named.endpoint(self.sources.env).ok()?;
        self.why.push(format!("provider {}: the first endpoint in the settings", named.name));
        Some(endpoint)
    }

    fn with_model(mut self, mut endpoint: Endpoint, flagged: Option<String>, ours: bool) -> Selected {
        let named = self.sources.named.iter().find(|named| named.is(&endpoint.provider));
        let provider = providers::find(&endpoint.provider);
        let told = flagged.map(|model| (model, "--model")).or_else(|| {
            // The settings' model belongs to the settings' provider.
            self.model()
                .filter(|(_, from)| !ours || *from != "model.default" || self.same_provider(&endpoint))
        });
        let usual = named.and_then(|named| named.default_model.clone()).or_else(|| {
            provider.map(|provider| provider.default_model.to_owned()).filter(|model| !model.is_empty())
        });
        let (model, from) = match (told, usual) {
            (Some(told), _) => told,
            (None, Some(usual)) => (usual, "the provider's usual one"),
            (None, None) => (String::new(), ""),
        };
        endpoint.model.clone_from(&model);
        if let Some(known) = provider.and_then(|provider| provider.model(&model)) {
            endpoint.context = endpoint.context.or(Some(known.context));
            endpoint.price = known.price;
            endpoint.sees = known.sees;
            if endpoint.wire == Wire::Messages && known.output > 0 {
                endpoint.max_tokens = Some(known.output.min(32_000));
            }
        } else {
            endpoint.sees = probably_sees(&model);
        }
        if let Some(named) = named {
            endpoint.context = named.context_of(&model).or(endpoint.context);
        }
        let base_url = endpoint.base_url.clone();
        let endpoint = self.with_wishes(endpoint.at(&base_url), ours);
        if endpoint.model.is_empty() {
            return Selected::NeedsModel(Choice { endpoint: Some(endpoint), why: self.why });
        }
        self.why.push(format!("model {model}: {from}"));
        Selected::Choice(Choice { endpoint: Some(endpoint), why: self.why })
    }

    fn same_provider(&self, endpoint: &Endpoint) -> bool {
        let configured = self.sources.config.provider.as_deref().and_then(providers::find);
        configured.is_some_and(|provider| provider.name() == endpoint.provider)
    }

    pub(super) fn with_wishes(&self, mut endpoint: Endpoint, ours: bool) -> Endpoint {
        let (flags, config) = (self.sources.flags, self.sources.config);
        let settings = !ours || self.same_provider(&endpoint);
        endpoint.context =
            flags.context_length.or(config.context_length.filter(|_| settings)).or(endpoint.context);
        endpoint.max_tokens =
            flags.max_tokens.or(config.max_tokens.filter(|_| settings)).or(endpoint.max_tokens);
        endpoint.effort = flags.effort.clone().or_else(|| config.effort.clone());
        endpoint.cache_ttl = flags.cache_ttl.or(config.cache_ttl).unwrap_or_default();
        endpoint
    }
}
