//! Which model is asked, and where: decided from flags, settings and the environment.
//!
//! Pure: the environment is handed in as values, servers on this machine as a list. Every choice
//! says which source won, for whoever asks why.

mod key;
mod named;

use hermes_core::suggest::suggest;

use crate::endpoint::{CacheTtl, Endpoint, wire_of};
use crate::http::Http;
use crate::local::{self, LocalServer};
use crate::provider::{ProviderDef, Wire};
use crate::providers::{self, PROVIDERS};
use crate::secret::Secret;
use crate::{catalog, http::url::Url};

pub use named::NamedEndpoint;

/// What somebody wants: flags, or `model` in the settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    /// `--provider`, `model.provider`
    pub provider: Option<String>,
    /// `--model`, `model.default`
    pub model: Option<String>,
    /// `model.base_url`
    pub base_url: Option<String>,
    /// `model.api_key`
    pub api_key: Option<Secret>,
    /// `model.api_mode`
    pub api_mode: Option<String>,
    /// `model.context_length`
    pub context_length: Option<u64>,
    /// `model.max_tokens`
    pub max_tokens: Option<u64>,
    /// How hard to think.
    pub effort: Option<String>,
    /// How long marked parts stay cached.
    pub cache_ttl: Option<CacheTtl>,
}

/// Everything a choice is made from.
pub struct Sources<'a> {
    /// From the command line.
    pub flags: &'a Wanted,
    /// From the settings.
    pub config: &'a Wanted,
    /// Endpoints of the user's own: `providers.<name>`, `custom_providers`.
    pub named: &'a [NamedEndpoint],
    /// The environment, `.env` included.
    pub env: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Where and what; none means the built-in offline model.
    pub endpoint: Option<Endpoint>,
    /// Why, one line per decision.
    pub why: Vec<String>,
}

/// What can be said without asking any server.
#[derive(Debug, Clone, PartialEq)]
pub enum Selected {
    /// This one.
    Choice(Choice),
    /// This one, but the model must be asked of the server.
    NeedsModel(Choice),
    /// Nothing is configured: servers on this machine, if any, or the offline model.
    Unconfigured,
}

/// Why nothing could be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// There is no such provider.
    #[error("there is no provider {name:?}{}", did_you_mean(.suggestions))]
    UnknownProvider {
        /// As it was written.
        name: String,
        /// Names that are close.
        suggestions: Vec<String>,
    },
    /// A named endpoint is switched off.
    #[error("the endpoint {0:?} is switched off in the settings (enabled: false)")]
    Disabled(String),
    /// The provider wants a key.
    #[error("{provider} needs a key: set {env}{}", at(.page))]
    MissingKey {
        /// The provider.
        provider: String,
        /// The variable that may hold it.
        env: String,
        /// Where keys are to be had.
        page: String,
    },
    /// An endpoint of one's own needs an address.
    #[error("the provider \"custom\" needs an address: set model.base_url")]
    MissingUrl,
    /// The address is none.
    #[error("{0:?} is no http or https address")]
    BadUrl(String),
    /// The wire is none.
    #[error("there is no api_mode {0:?}; known are chat_completions, codex_responses and anthropic_messages")]
    BadMode(String),
    /// The server has no model that could be taken.
    #[error("{0} lists no model; name one with --model")]
    NoModel(String),
}

fn did_you_mean(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}

fn at(page: &str) -> String {
    if page.is_empty() { String::new() } else { format!(" (keys: {page})") }
}

/// Decides as far as that goes without asking any server.
pub fn select(sources: &Sources<'_>) -> Result<Selected, SelectError> {
    Picker { sources, why: Vec::new() }.pick()
}

/// Decides, asking servers where needed: a model of the one that is configured, or servers on this
/// machine when nothing is.
pub async fn choose(sources: &Sources<'_>, http: &Http) -> Result<Choice, SelectError> {
    match select(sources)? {
        Selected::Choice(choice) => Ok(choice),
        Selected::NeedsModel(choice) => first_model(choice, http).await,
        Selected::Unconfigured => {
            let found = local::find(http, &local::usual_ports()).await;
            Ok(from_local(sources, &found))
        }
    }
}

async fn first_model(mut choice: Choice, http: &Http) -> Result<Choice, SelectError> {
    let Some(endpoint) = &mut choice.endpoint else { return Ok(choice) };
    let models = catalog::models(http, endpoint).await.unwrap_or_default();
    let server = LocalServer { provider: "custom", base_url: endpoint.base_url.clone(), models };
    let Some(model) = server.first_model() else {
        return Err(SelectError::NoModel(endpoint.base_url.clone()));
    };
    choice.why.push(format!("model {model}: the first that {} lists", endpoint.base_url));
    endpoint.context =
        endpoint.context.or(server.models.iter().find(|known| known.name == model).and_then(|m| m.context));
    model.clone_into(&mut endpoint.model);
    Ok(choice)
}

/// The choice among servers on this machine: the first that has the wanted model, or any model.
pub fn from_local(sources: &Sources<'_>, found: &[LocalServer]) -> Choice {
    let picker = Picker { sources, why: Vec::new() };
    let wanted = picker.model().map(|(model, _)| model);
    let fits = |server: &&LocalServer| match &wanted {
        Some(model) => server.models.iter().any(|known| known.name == *model),
        None => server.first_model().is_some(),
    };
    let server =
        found.iter().find(fits).or_else(|| found.iter().find(|server| server.first_model().is_some()));
    let taken = server.and_then(|server| {
        let has = |model: &String| server.models.iter().any(|known| known.name == *model);
        let model = wanted.clone().filter(has).or_else(|| server.first_model().map(str::to_owned))?;
        Some((server, server.endpoint(&model)?))
    });
    let Some((server, endpoint)) = taken else {
        let why =
            vec!["no provider, key or local server was found: the built-in offline model answers".to_owned()];
        return Choice { endpoint: None, why };
    };
    let why = vec![
        format!(
            "provider {}: nothing is configured, and a server answers at {}",
            server.provider, server.base_url
        ),
        format!("model {}: it is there", endpoint.model),
    ];
    Choice { endpoint: Some(picker.with_wishes(endpoint, true)), why }
}

/// Whose key counts first when there are several.
const FIRST: [&str; 3] = ["openrouter", "openai-api", "anthropic"];

struct Picker<'a> {
    sources: &'a Sources<'a>,
    why: Vec<String>,
}

/// Where a value came from, in words.
type From = &'static str;

impl Picker<'_> {
    fn pick(mut self) -> Result<Selected, SelectError> {
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

    fn model(&self) -> Option<(String, From)> {
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
            endpoint.sees = crate::endpoint::probably_sees(&model);
        }
        if let Some(named) = named {
            endpoint.context = named.context_of(&model).or(endpoint.context);
        }
        let base_url = endpoint.base_url.clone();
        let mut endpoint = self.with_wishes(endpoint.at(&base_url), ours);
        if endpoint.model.is_empty() {
            endpoint.model = String::new();
            return Selected::NeedsModel(Choice { endpoint: Some(endpoint), why: self.why });
        }
        self.why.push(format!("model {model}: {from}"));
        Selected::Choice(Choice { endpoint: Some(endpoint), why: self.why })
    }

    fn same_provider(&self, endpoint: &Endpoint) -> bool {
        let configured = self.sources.config.provider.as_deref().and_then(providers::find);
        configured.is_some_and(|provider| provider.name() == endpoint.provider)
    }

    fn with_wishes(&self, mut endpoint: Endpoint, ours: bool) -> Endpoint {
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

fn checked(url: &str) -> Result<String, SelectError> {
    let url = url.trim().trim_end_matches('/');
    if Url::parse(url).is_some() { Ok(url.to_owned()) } else { Err(SelectError::BadUrl(url.to_owned())) }
}

#[cfg(test)]
mod tests;
