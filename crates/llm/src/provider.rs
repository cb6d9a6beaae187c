//! What a provider is: data that a file in `providers/` writes down.

use hermes_core::model::Price;

/// The language an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// `OpenAI` chat completions.
    Chat,
    /// `OpenAI` responses.
    Responses,
    /// Anthropic messages.
    Messages,
}

impl Wire {
    /// Its name in `model.api_mode`.
    pub const fn mode(self) -> &'static str {
        match self {
            Self::Chat => "chat_completions",
            Self::Responses => "codex_responses",
            Self::Messages => "anthropic_messages",
        }
    }

    /// The wire that `model.api_mode` (or `transport`) names.
    pub fn of_mode(mode: &str) -> Option<Self> {
        match mode.trim().to_ascii_lowercase().replace('-', "_").as_str() {
            "chat_completions" | "chat" | "openai" | "openai_chat" => Some(Self::Chat),
            "codex_responses" | "responses" | "openai_responses" => Some(Self::Responses),
            "anthropic_messages" | "messages" | "anthropic" => Some(Self::Messages),
            _ => None,
        }
    }
}

/// A provider, known by name.
#[derive(Debug, Clone, Copy)]
pub struct ProviderDef {
    name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// Other names it goes by.
    pub aliases: &'static [&'static str],
    /// The language it speaks.
    pub wire: Wire,
    /// Where it is. Empty when only the user can know.
    pub base_url: &'static str,
    /// The variables that may hold its key, best first. None when it needs no key.
    pub key_env: &'static [&'static str],
    /// The variable that puts another address in place of the usual one.
    pub url_env: Option<&'static str>,
    /// Where keys are to be had.
    pub key_page: &'static str,
    /// Loopback ports a server of this kind usually listens on.
    pub ports: &'static [u16],
    /// The model taken when none is named.
    pub default_model: &'static str,
    /// Headers it wants beyond the usual ones.
    pub headers: &'static [(&'static str, &'static str)],
    /// Where it differs from its wire.
    pub quirks: Quirks,
    /// Models whose facts are known.
    pub models: &'static [ModelDef],
}

impl ProviderDef {
    /// A provider that speaks `wire` at `base_url`.
    pub const fn new(name: &'static str, label: &'static str, wire: Wire, base_url: &'static str) -> Self {
        Self {
            name,
            label,
            aliases: &[],
            wire,
            base_url,
            key_env: &[],
            url_env: None,
            key_page: "",
            ports: &[],
            default_model: "",
            headers: &[],
            quirks: Quirks::HOSTED,
            models: &[],
        }
    }

    /// Its name in flags and settings; the file is called the same.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Also known as.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Its key is in one of these variables; `page` says where to get one.
    pub const fn key(mut self, env: &'static [&'static str], page: &'static str) -> Self {
        self.key_env = env;
        self.key_page = page;
        self
    }

    /// This variable may hold another address.
    pub const fn url_env(mut self, env: &'static str) -> Self {
        self.url_env = Some(env);
        self
    }

    /// It runs on this machine and usually listens here.
    pub const fn local(mut self, ports: &'static [u16]) -> Self {
        self.ports = ports;
        self.quirks = Quirks::LOCAL;
        self
    }

    /// The model taken when none is named.
    pub const fn default_model(mut self, model: &'static str) -> Self {
        self.default_model = model;
        self
    }

    /// Sends these headers too.
    pub const fn headers(mut self, headers: &'static [(&'static str, &'static str)]) -> Self {
        self.headers = headers;
        self
    }

    /// Differs from its wire like this.
    pub const fn quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// Knows these models.
    pub const fn models(mut self, models: &'static [ModelDef]) -> Self {
        self.models = models;
        self
    }

    /// What is known of a model: the entry whose name is the longest beginning of the model's, so
    /// that a dated release finds its family.
    pub fn model(&self, model: &str) -> Option<&'static ModelDef> {
        let model = model.to_ascii_lowercase();
        let fits = |known: &&ModelDef| model.starts_with(known.name);
        self.models.iter().filter(fits).max_by_key(|known| known.name.len())
    }
}

/// What is known of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelDef {
    /// Its name, in lower case, or the beginning that its releases share.
    pub name: &'static str,
    /// Size of its context in tokens.
    pub context: u64,
    /// Most tokens of an answer; 0 when not known.
    pub output: u64,
    /// Whether it looks at pictures.
    pub sees: bool,
    /// What it costs, when known.
    pub price: Option<Price>,
}

impl ModelDef {
    /// A model with a context of `context` tokens.
    pub const fn new(name: &'static str, context: u64) -> Self {
        Self { name, context, output: 0, sees: false, price: None }
    }

    /// Answers at most so many tokens.
    pub const fn output(mut self, tokens: u64) -> Self {
        self.output = tokens;
        self
    }

    /// It looks at pictures.
    pub const fn sees(mut self) -> Self {
        self.sees = true;
        self
    }

    /// Costs so many dollars per million tokens sent, answered, read from the cache, written to it.
    pub const fn price(mut self, input: f64, output: f64, cache_read: f64, cache_write: f64) -> Self {
        self.price = Some(Price { input, output, cache_read, cache_write });
        self
    }
}

/// Where a provider differs from its wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// What the limit of an answer is called on the chat wire.
    pub max_tokens: MaxTokens,
    /// Whether newer `OpenAI` models get the system prompt in the role `developer`.
    pub developer: bool,
    /// Which models want cache marks.
    pub cache: CacheMarks,
    /// How it is asked to think.
    pub effort: EffortStyle,
    /// How it wants its thoughts back on the chat wire.
    pub thoughts: Thoughts,
    /// What ids of calls must look like.
    pub call_ids: CallIds,
    /// Whether its models may write calls as text, which is then mended.
    pub text_calls: bool,
    /// Whether `stream_options` is understood.
    pub stream_options: bool,
}

impl Quirks {
    /// A hosted service whose models call tools properly.
    pub const HOSTED: Self = Self {
        max_tokens: MaxTokens::MaxTokens,
        developer: false,
        cache: CacheMarks::None,
        effort: EffortStyle::None,
        thoughts: Thoughts::Drop,
        call_ids: CallIds::Any,
        text_calls: false,
        stream_options: true,
    };

    /// A hosted service of open models, some of which write calls as text.
    pub const OPEN_MODELS: Self = Self { text_calls: true, ..Self::HOSTED };

    /// A server on this machine, or any other of the user's own. One that refuses to be asked to think is
    /// not asked again.
    pub const LOCAL: Self = Self {
        text_calls: true,
        effort: EffortStyle::Word,
        thoughts: Thoughts::InTurn("reasoning_content"),
        ..Self::HOSTED
    };
}

/// The name of the limit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxTokens {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Which models want marks that say how far to cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMarks {
    /// None: the provider caches by itself, or not at all.
    None,
    /// All.
    All,
    /// Those with one of these words in their name.
    Named(&'static [&'static str]),
}

impl CacheMarks {
    /// Whether `model` wants them.
    pub fn wanted_by(self, model: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(words) => {
                let model = model.to_ascii_lowercase();
                words.iter().any(|word| model.contains(word))
            }
        }
    }
}

/// How a provider is told how hard to think on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortStyle {
    /// It cannot be told.
    None,
    /// `reasoning_effort: "high"`
    Word,
    /// `reasoning: {effort: "high"}`
    Object,
    /// `thinking: {type: "enabled" | "disabled"}`
    Switch,
}

/// How a provider wants thoughts back on the chat wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoughts {
    /// Not at all.
    Drop,
    /// In this field, for the answers since the last question.
    InTurn(&'static str),
    /// In this field, always.
    Always(&'static str),
    /// As `reasoning_details`, untouched.
    Details,
}

/// What ids of calls must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIds {
    /// Anything.
    Any,
    /// Nine letters or digits.
    Nine,
}
