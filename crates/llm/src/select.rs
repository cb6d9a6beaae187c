//! Which model is asked, and where: decided from flags, settings and the environment.
//!
//! Pure: the environment is handed in as values, servers on this machine as a list. Every choice
//! says which source won, for whoever asks why.

mod key;
mod named;
mod pick;

use crate::catalog;
use crate::endpoint::{CacheTtl, Endpoint};
use crate::local::{self, LocalServer};
use crate::offline::OFFLINE_NAME;
use crate::secret::Secret;
use hermes_net::Http;
use hermes_net::Url;
use pick::Picker;

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
    /// Nobody is set up who could have the model that was named.
    #[error(
        "there is no provider, key or server on this machine for the model {0:?}; \
         name one with --provider, or run `hermes setup`"
    )]
    Nowhere(String),
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
            as_named(sources, from_local(sources, &found))
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

/// A model that was named on the command line is answered by no other one.
fn as_named(sources: &Sources<'_>, choice: Choice) -> Result<Choice, SelectError> {
    let picker = Picker { sources, why: Vec::new() };
    let named = picker.model().filter(|(_, from)| *from == "--model").map(|(model, _)| model);
    let taken = choice.endpoint.as_ref().map_or(OFFLINE_NAME, |endpoint| &endpoint.model);
    match named {
        Some(named) if named != taken => Err(SelectError::Nowhere(named)),
        _ => Ok(choice),
    }
}

fn checked(url: &str) -> Result<String, SelectError> {
    let url = url.trim().trim_end_matches('/');
    if Url::parse(url).is_some() { Ok(url.to_owned()) } else { Err(SelectError::BadUrl(url.to_owned())) }
}

#[cfg(test)]
mod tests;
