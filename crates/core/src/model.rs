//! The contract between an agent and a language model: messages, a request, what streams back.
//!
//! Wires and providers live in their own crate; a turn never knows which one it talks to. Every
//! type can be written down and read back, because a session has to survive its process.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From the person, or whoever stands in for one.
    User {
        /// Text and images, in order.
        content: Vec<Part>,
    },
    /// From the model.
    Assistant(AssistantMessage),
    /// The result of one tool call.
    Tool {
        /// The call it answers, by the id the model gave it.
        call_id: String,
        /// The tool's name.
        name: String,
        /// One JSON document.
        content: String,
        /// Pictures that came with it, as `data:` URLs, for models that see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
}

impl Message {
    /// A message of plain text from the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { content: vec![Part::Text { text: text.into() }] }
    }
}

/// A piece of what a person sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture: a URL, or a `data:` URL. A film is one too, for the providers that look at films.
    Image {
        /// Where it is.
        url: String,
    },
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Its words.
    pub text: String,
    /// What it thought, where the provider tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The tools it wants called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// Why it stopped.
    #[serde(default)]
    pub finish: Finish,
    /// What the provider wants to see again, untouched: signatures, encrypted reasoning, item ids.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub keep: Map<String, Value>,
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The model's id for it; may be empty or repeated.
    pub id: String,
    /// The tool's name as written.
    pub name: String,
    /// The arguments as written.
    pub arguments: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It wants tools called.
    Calls,
    /// It ran out of room.
    Length,
    /// It, or its provider, refused.
    Refused,
    /// The stream ended without saying.
    Unknown,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The system prompt, the same bytes for a whole session.
    pub system: Arc<str>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tool definitions as one JSON array, the same bytes for a whole session.
    pub tools: Arc<str>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u64>,
    /// How hard to think, in the provider's words (`low`, `medium`, `high`, …).
    pub effort: Option<String>,
    /// The session it belongs to, for providers that keep a cache per conversation.
    pub session: Option<Arc<str>>,
}

/// What streams back while a model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More words.
    Text(String),
    /// More of what it thinks.
    Reasoning(String),
    /// It has begun to write a tool call.
    CallBegins {
        /// The tool's name.
        name: String,
    },
    /// The words so far are void: the request is made again.
    Restart,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelReply {
    /// What was said.
    pub message: AssistantMessage,
    /// What it cost in tokens.
    pub usage: Usage,
    /// The model that answered, in the provider's words.
    pub model: String,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Sent, cached ones included.
    pub input: u64,
    /// Answered, thinking included.
    pub output: u64,
    /// Of the sent ones, read from the provider's cache.
    pub cache_read: u64,
    /// Of the sent ones, written to it.
    pub cache_write: u64,
    /// Of the answered ones, thinking.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another answer's tokens.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Sent and not cached.
    pub input: f64,
    /// Answered.
    pub output: f64,
    /// Read from the cache.
    pub cache_read: f64,
    /// Written to the cache.
    pub cache_write: f64,
}

impl Price {
    /// What one answer cost.
    #[expect(clippy::cast_precision_loss, reason = "2^53 tokens are more than anybody pays for")]
    pub fn of(self, usage: Usage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let parts = [
            (fresh, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price / 1e6).sum()
    }
}

/// Hears what streams back.
pub type EventSink<'a> = &'a (dyn Fn(ModelEvent) + Send + Sync);

/// A language model behind any wire.
pub trait Model: Send + Sync {
    /// `provider/model`, for people and records.
    fn name(&self) -> &str;

    /// The provider's name alone.
    fn provider(&self) -> &str;

    /// Size of its context in tokens, when known.
    fn context_tokens(&self) -> Option<u64> {
        None
    }

    /// Whether it looks at pictures.
    fn sees(&self) -> bool {
        false
    }

    /// What it costs, when known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Where it is asked, and the name of the language spoken there; one inside of this program is nowhere.
    fn address(&self) -> Option<(&str, &'static str)> {
        None
    }

    /// Asks once, without trying again; dropping the future takes the request back.
    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

/// Why a model did not answer. The class is decided where the fact is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{provider}: {message}")]
pub struct ModelError {
    /// What kind of failure.
    pub class: ModelErrorClass,
    /// Who failed.
    pub provider: String,
    /// In words, without secrets.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// The kinds of failure that call for different remedies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorClass {
    /// The key is missing, wrong or expired.
    Auth,
    /// No money or no quota.
    Billing,
    /// Too many requests.
    RateLimit,
    /// The provider is overloaded.
    Overloaded,
    /// The provider broke.
    Server,
    /// Nothing came in time.
    Timeout,
    /// It cannot be reached.
    Network,
    /// The conversation does not fit.
    ContextOverflow,
    /// The request is too large in bytes.
    PayloadTooLarge,
    /// There is no such model.
    ModelNotFound,
    /// The content was refused.
    Policy,
    /// The provider did not understand the request.
    BadRequest,
    /// The answer could not be understood.
    BadAnswer,
}
