//! Which models are talked to: `model`, `providers`, `custom_providers`, `fallback_providers`,
//! `auxiliary`, and the limits of a turn in `agent` and `compression`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::reader::{Keys, Reader, Section};
use super::tree::{Kind, Node};

/// Sizes of contexts and answers, in tokens.
const TOKENS: RangeInclusive<u64> = 1..=100_000_000;

/// A value that may be a key: printing it for debugging shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The value itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a model is reached, as far as the file says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelSettings {
    /// `default` (also `model`): the model's name.
    pub name: Option<String>,
    /// `provider`: a known one, one of `providers`, `custom` or `auto`.
    pub provider: Option<String>,
    /// `base_url`.
    pub base_url: Option<String>,
    /// `api_key`: the key itself.
    pub api_key: Option<Secret>,
    /// `key_env`: the variable that holds the key.
    pub key_env: Option<String>,
    /// `api_mode`: the wire, where it cannot be told from the address.
    pub api_mode: Option<String>,
    /// `context_length`, tokens.
    pub context_length: Option<u64>,
    /// `max_tokens`: most tokens of an answer.
    pub max_tokens: Option<u64>,
    /// `timeout`, seconds.
    pub timeout: Option<Duration>,
}

/// An endpoint with a name of its own: `providers.<name>`, or an item of `custom_providers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointSettings {
    /// Its name.
    pub name: String,
    /// `enabled`.
    pub enabled: bool,
    /// Address, key and model, under the original's several spellings.
    pub model: ModelSettings,
    /// `extra_headers`.
    pub extra_headers: BTreeMap<String, Secret>,
    /// `extra_body`: added to every request; a JSON object.
    pub extra_body: Option<Secret>,
    /// `models.<name>.context_length`.
    pub contexts: BTreeMap<String, u64>,
}

/// Limits of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnSettings {
    /// `agent.max_turns`: most model calls of a turn.
    pub max_turns: u64,
    /// `agent.api_max_retries`: how often a failed model call is made again.
    pub api_max_retries: u64,
    /// `agent.turn_timeout`, seconds: a turn is over by then; 0 means no limit (`None`).
    pub turn_timeout: Option<Duration>,
    /// `agent.stall_timeout`, seconds: a model that says nothing for so long has stalled.
    pub stall_timeout: Duration,
    /// `agent.reasoning_effort`.
    pub reasoning_effort: Option<String>,
    /// `compression.enabled`.
    pub compression: bool,
    /// `compression.threshold`, percent of the context: beyond it the conversation is shortened.
    pub compression_percent: u64,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            max_turns: 90,
            api_max_retries: 3,
            turn_timeout: Some(Duration::from_hours(2)),
            stall_timeout: Duration::from_mins(3),
            reasoning_effort: None,
            compression: true,
            compression_percent: 75,
        }
    }
}

/// `model`: a map, or just the model's name.
pub(super) fn model<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> ModelSettings {
    const KEYS: &[&str] = &[
        "default",
        "model",
        "provider",
        "base_url",
        "api_key",
        "key_env",
        "api_mode",
        "context_length",
        "max_tokens",
        "timeout",
    ];
    if let Some(Kind::Text(name) | Kind::Expanded(name, _)) =
        Reader::raw(root, "model").map(|node| &node.kind)
    {
        return ModelSettings { name: filled(name), ..ModelSettings::default() };
    }
    let section = reader.section(root, "model", "model");
    reader.check_keys(section, KEYS, Keys::Some);
    way(reader, section)
}

/// `providers` and `custom_providers`, by name; the first of a name counts.
pub(super) fn endpoints<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Vec<EndpointSettings> {
    let mut list = Vec::new();
    let providers = reader.section(root, "providers", "providers");
    for (name, section) in reader.sections(providers, "providers") {
        list.push(endpoint(reader, section, name.to_owned()));
    }
    for section in reader.items(root, "custom_providers") {
        match reader.text(section, "name").filter(|name| !name.is_empty()) {
            Some(name) => list.push(endpoint(reader, section, name)),
            None => reader.missing(section, "name"),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    list.retain(|endpoint: &EndpointSettings| seen.insert(endpoint.name.clone()));
    list
}

/// `fallback_providers`, and the older `fallback_model`, in the order in which they are tried.
pub(super) fn fallbacks<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Vec<ModelSettings> {
    let mut list: Vec<ModelSettings> = Vec::new();
    for section in reader.items(root, "fallback_providers") {
        list.push(way(reader, section));
    }
    if Reader::raw(root, "fallback_model").is_some_and(|node| matches!(node.kind, Kind::Map(_))) {
        let section = reader.section(root, "fallback_model", "fallback_model");
        list.push(way(reader, section));
    }
    list.retain(|way| *way != ModelSettings::default());
    list
}

/// `auxiliary.<task>`: models for side jobs. `auto` means the main one.
pub(super) fn auxiliary<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> BTreeMap<String, ModelSettings> {
    let section = reader.section(root, "auxiliary", "auxiliary");
    let mut tasks = BTreeMap::new();
    for (task, section) in reader.sections(section, "auxiliary") {
        let mut way = way(reader, section);
        way.provider = way.provider.filter(|provider| provider != "auto");
        if way != (ModelSettings { timeout: way.timeout, ..ModelSettings::default() }) {
            tasks.insert(task.to_owned(), way);
        }
    }
    tasks
}

/// The limits of a turn.
pub(super) fn turn<'t>(reader: &mut Reader<'t>, root: Section<'t>, agent: Section<'t>) -> TurnSettings {
    let default = TurnSettings::default();
    let compression = reader.section(root, "compression", "compression");
    let whole = reader.seconds(agent, "turn_timeout", default.turn_timeout.unwrap_or_default());
    TurnSettings {
        max_turns: reader.count(agent, "max_turns", default.max_turns, 1..=100_000),
        api_max_retries: reader.count(agent, "api_max_retries", default.api_max_retries, 0..=100),
        turn_timeout: (!whole.is_zero()).then_some(whole),
        stall_timeout: reader.seconds(agent, "stall_timeout", default.stall_timeout),
        reasoning_effort: reader.text(agent, "reasoning_effort").and_then(|text| filled(&text)),
        compression: reader.flag(compression, "enabled", default.compression),
        compression_percent: reader.percent(compression, "threshold", default.compression_percent),
    }
}

fn endpoint<'t>(reader: &mut Reader<'t>, section: Section<'t>, name: String) -> EndpointSettings {
    let mut contexts = BTreeMap::new();
    let models = reader.section(section, "models", "models");
    for (model, section) in reader.sections(models, "models") {
        if let Some(tokens) = reader.number(section, "context_length", TOKENS) {
            contexts.insert(model.to_owned(), tokens);
        }
    }
    let mut way = way(reader, section);
    let also = |reader: &mut Reader<'t>, keys: &[&str]| {
        keys.iter().find_map(|key| reader.text(section, key).and_then(|text| filled(&text)))
    };
    way.base_url = way.base_url.or_else(|| also(reader, &["api", "url"]));
    way.api_mode = way.api_mode.or_else(|| also(reader, &["transport"]));
    way.name = way.name.or_else(|| also(reader, &["default_model"]));
    way.max_tokens = way.max_tokens.or_else(|| reader.number(section, "max_output_tokens", TOKENS));
    let body = Reader::raw(section, "extra_body").map(Node::value).filter(Value::is_object);
    EndpointSettings {
        enabled: reader.flag(section, "enabled", true),
        extra_headers: texts(reader, section, "extra_headers"),
        extra_body: body.map(|body| Secret(body.to_string())),
        name,
        model: way,
        contexts,
    }
}

fn texts<'t>(reader: &mut Reader<'t>, section: Section<'t>, key: &'t str) -> BTreeMap<String, Secret> {
    let map = reader.section(section, key, key);
    let names = Reader::names(map);
    names.into_iter().filter_map(|name| Some((name.clone(), Secret(reader.text(map, &name)?)))).collect()
}

fn way<'t>(reader: &mut Reader<'t>, section: Section<'t>) -> ModelSettings {
    let mut text = |key: &str| reader.text(section, key).and_then(|text| filled(&text));
    let name = text("default").or_else(|| text("model"));
    ModelSettings {
        name,
        provider: text("provider"),
        base_url: text("base_url"),
        api_key: text("api_key").map(Secret),
        key_env: text("key_env"),
        api_mode: text("api_mode"),
        context_length: reader.number(section, "context_length", TOKENS),
        max_tokens: reader.number(section, "max_tokens", TOKENS),
        timeout: Reader::raw(section, "timeout")
            .is_some()
            .then(|| reader.seconds(section, "timeout", Duration::ZERO)),
    }
}

/// A text that says something. A `${NAME}` nobody knows says nothing.
fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.starts_with("${")).then(|| text.to_owned())
}
