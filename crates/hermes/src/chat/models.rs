//! Which models a conversation uses, and why those: the one that answers, those that stand in for it,
//! and those for side jobs.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::model::Model;
use hermes_llm::select::{self as pick, Choice, NamedEndpoint, SelectError, Sources, Wanted};
use hermes_llm::{Endpoint, HttpModel, OFFLINE_NAME, Offline, Secret, catalog};
use hermes_net::Http;
use hermes_store::Settings;
use hermes_store::config::{EndpointSettings, ModelSettings};

use super::risk::ModelRisk;
use crate::runtime::Runtime;

/// How long a server on this machine may take to say how much its model can hold.
const LOOK: Duration = Duration::from_millis(300);

/// What somebody wants of a model beyond what the configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelWish {
    /// Who serves it.
    pub provider: Option<String>,
    /// Its name; `provider:name` names both.
    pub model: Option<String>,
    /// Its address.
    pub base_url: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
}

/// The model that answers, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// `provider/model`.
    pub name: String,
    /// Who serves it.
    pub provider: String,
    /// Where it is; empty for the built-in one.
    pub base_url: String,
    /// Size of its context in tokens, when known.
    pub context_tokens: Option<u64>,
    /// Why, one line per decision.
    pub why: Vec<String>,
    /// What is not as the configuration wants it: fallbacks that cannot be used.
    pub warnings: Vec<String>,
}

impl ModelChoice {
    /// Whether it is the built-in model that needs no network.
    pub fn is_offline(&self) -> bool {
        self.name == OFFLINE_NAME
    }
}

/// Why no model can be asked.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ModelError(#[from] SelectError);

impl ModelError {
    /// Whether a name or an address was written wrong, and not merely something is missing.
    pub fn is_misspelt(&self) -> bool {
        matches!(
            self.0,
            SelectError::UnknownProvider { .. } | SelectError::BadUrl(_) | SelectError::BadMode(_)
        )
    }
}

/// The models of a conversation.
#[derive(Clone)]
pub(crate) struct Models {
    pub(crate) list: Vec<Arc<dyn Model>>,
    pub(crate) summary: Option<Arc<dyn Model>>,
    pub(crate) approval: Option<Arc<dyn Model>>,
    pub(crate) choice: ModelChoice,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) effort: Option<String>,
}

impl Models {
    /// The smallest context among those that may answer.
    pub(crate) fn context_tokens(&self) -> Option<u64> {
        self.choice.context_tokens
    }

    /// A model that may judge what is of little risk; the built-in one may not.
    pub(crate) fn risk(&self) -> Option<ModelRisk> {
        let model = self.approval.clone().or_else(|| self.list.first().cloned())?;
        (model.name() != OFFLINE_NAME).then_some(ModelRisk(model))
    }
}

/// Decides which models are used.
pub(crate) async fn choose(runtime: &Runtime, wish: &ModelWish) -> Result<Models, ModelError> {
    let settings = runtime.settings();
    let http = http(runtime);
    let env = |name: &str| runtime.world(|world| world.variable(name).map(str::to_owned));
    let named: Vec<NamedEndpoint> = settings.endpoints.iter().map(endpoint_of).collect();
    let flags = Wanted {
        provider: wish.provider.clone(),
        model: wish.model.clone(),
        base_url: wish.base_url.clone(),
        effort: wish.effort.clone(),
        ..Wanted::default()
    };
    let config = wanted(&settings.model, &env);
    let sources = Sources { flags: &flags, config: &config, named: &named, env: &env };
    let mut chosen = pick::choose(&sources, &http).await?;
    if let Some(endpoint) = &mut chosen.endpoint {
        measure(runtime, &http, endpoint).await;
    }
    let mut warnings = Vec::new();
    let mut others = |wishes: &[ModelSettings], what: &str| -> Vec<Arc<dyn Model>> {
        let mut list = Vec::new();
        for (at, way) in wishes.iter().enumerate() {
            let flags = wanted(way, &env);
            let none = Wanted::default();
            let sources = Sources { flags: &flags, config: &none, named: &named, env: &env };
            match pick::select(&sources) {
                Ok(pick::Selected::Choice(Choice { endpoint: Some(endpoint), .. })) => {
                    list.push(Arc::new(HttpModel::new(endpoint, http.clone())) as Arc<dyn Model>);
                }
                Ok(_) => warnings.push(format!("{what} {}: it names no model", at + 1)),
                Err(wrong) => warnings.push(format!("{what} {}: {wrong}", at + 1)),
            }
        }
        list
    };
    let fallbacks = others(&settings.fallbacks, "fallback");
    let mut side = |task: &str| {
        let way = settings.auxiliary.get(task).map(|way| completed(way, &settings))?;
        others(std::slice::from_ref(&way), task).into_iter().next()
    };
    let (summary, approval) = (side("compression"), side("approval"));
    let (first, name, provider, base_url, context_tokens, max_tokens, effort) =
        if let Some(endpoint) = chosen.endpoint {
            let told = (endpoint.context, endpoint.max_tokens, endpoint.effort.clone());
            let (provider, base_url) = (endpoint.provider.clone(), endpoint.base_url.clone());
            let model: Arc<dyn Model> = Arc::new(HttpModel::new(endpoint, http));
            let name = model.name().to_owned();
            (model, name, provider, base_url, told.0, told.1, told.2)
        } else {
            let model: Arc<dyn Model> = Arc::new(Offline);
            (model, OFFLINE_NAME.to_owned(), "offline".to_owned(), String::new(), None, None, None)
        };
    let choice = ModelChoice { name, provider, base_url, context_tokens, why: chosen.why, warnings };
    let list = std::iter::once(first).chain(fallbacks).collect();
    Ok(Models { list, summary, approval, choice, max_tokens, effort })
}

/// The names of the models that the chosen endpoint lists.
pub(crate) async fn list(runtime: &Runtime, wish: &ModelWish) -> Result<Vec<(String, Option<u64>)>, String> {
    let settings = runtime.settings();
    let env = |name: &str| runtime.world(|world| world.variable(name).map(str::to_owned));
    let named: Vec<NamedEndpoint> = settings.endpoints.iter().map(endpoint_of).collect();
    let flags = Wanted {
        provider: wish.provider.clone(),
        base_url: wish.base_url.clone(),
        model: Some("any".to_owned()),
        ..Wanted::default()
    };
    let config = wanted(&settings.model, &env);
    let sources = Sources { flags: &flags, config: &config, named: &named, env: &env };
    let http = http(runtime);
    let chosen = pick::choose(&sources, &http).await.map_err(|wrong| match wrong {
        SelectError::Nowhere(_) => {
            "there is no provider, key or server on this machine whose models could be \
             listed; name one with --provider, or run `hermes setup`"
                .to_owned()
        }
        other => other.to_string(),
    })?;
    let Some(endpoint) = chosen.endpoint else { return Ok(vec![(OFFLINE_NAME.to_owned(), None)]) };
    let listed = catalog::models(&http, &endpoint).await.map_err(|wrong| wrong.to_string())?;
    Ok(listed.into_iter().map(|model| (model.name, model.context)).collect())
}

fn http(runtime: &Runtime) -> Http {
    Http::from_env(|name| runtime.world(|world| world.variable(name).map(str::to_owned)))
}

/// Asks a server on this machine how much its model can hold, where nobody said so.
async fn measure(runtime: &Runtime, http: &Http, endpoint: &mut Endpoint) {
    if endpoint.context.is_some() || !endpoint.is_local() {
        return;
    }
    let asked = Box::pin(catalog::context(http, endpoint));
    let context = match select(asked, runtime.host().sleep(LOOK)).await {
        Either::Left((context, _)) => context,
        Either::Right(_) => None,
    };
    endpoint.context = context;
}

/// A side job that names only a model has it from the main provider.
pub(crate) fn completed(way: &ModelSettings, settings: &Settings) -> ModelSettings {
    let mut way = way.clone();
    if way.provider.is_none() && way.base_url.is_none() {
        let main = settings.model.clone();
        way.provider = main.provider;
        way.base_url = main.base_url;
        way.api_key = way.api_key.or(main.api_key);
        way.key_env = way.key_env.or(main.key_env);
        way.api_mode = way.api_mode.or(main.api_mode);
    }
    way
}

pub(crate) fn wanted(way: &ModelSettings, env: &dyn Fn(&str) -> Option<String>) -> Wanted {
    let from_env = || way.key_env.as_deref().and_then(env);
    let key = way.api_key.as_ref().map(|key| key.reveal().to_owned()).or_else(from_env);
    Wanted {
        provider: way.provider.clone(),
        model: way.name.clone(),
        base_url: way.base_url.clone(),
        api_key: key.as_deref().and_then(Secret::new),
        api_mode: way.api_mode.clone(),
        context_length: way.context_length,
        max_tokens: way.max_tokens,
        effort: None,
        cache_ttl: None,
    }
}

pub(crate) fn endpoint_of(settings: &EndpointSettings) -> NamedEndpoint {
    let body = settings.extra_body.as_ref().and_then(|body| serde_json::from_str(body.reveal()).ok());
    NamedEndpoint {
        name: settings.name.clone(),
        base_url: settings.model.base_url.clone().unwrap_or_default(),
        api_key: settings.model.api_key.as_ref().and_then(|key| Secret::new(key.reveal())),
        key_env: settings.model.key_env.clone(),
        api_mode: settings.model.api_mode.clone(),
        default_model: settings.model.name.clone(),
        extra_body: body.unwrap_or_default(),
        extra_headers: settings
            .extra_headers
            .iter()
            .map(|(name, value)| (name.clone(), value.reveal().to_owned()))
            .collect(),
        max_output_tokens: settings.model.max_tokens,
        enabled: settings.enabled,
        context_lengths: settings.contexts.iter().map(|(name, tokens)| (name.clone(), *tokens)).collect(),
    }
}
