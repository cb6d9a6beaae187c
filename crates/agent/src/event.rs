//! What happens during a turn, for whoever shows it: a screen, a stream of JSON lines, a gateway.
//!
//! Their JSON form is the `stream-json` output, version 1: fields are added, never changed.

use hermes_core::model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Hears what happens. It is called from the turn itself and must not wait.
pub type EventSink<'a> = &'a (dyn Fn(Event) + Send + Sync);

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A turn begins.
    TurnBegan {
        /// The session's id.
        session: String,
        /// `provider/model`.
        model: String,
    },
    /// More words of the answer.
    Text {
        /// The words.
        text: String,
    },
    /// More of what the model thinks.
    Reasoning {
        /// The words.
        text: String,
    },
    /// The words since the last call or turn are void: the model is asked again.
    TextVoid,
    /// The model has begun to write a call.
    CallWriting {
        /// The tool's name.
        tool: String,
    },
    /// A call begins to run.
    CallBegan {
        /// The runtime's id for it.
        id: String,
        /// The tool's name.
        tool: String,
        /// The arguments that are used.
        arguments: Map<String, Value>,
    },
    /// A call will not run: it is denied, or said once too often. Its end follows.
    CallRefused {
        /// The runtime's id for it.
        id: String,
        /// The tool's name.
        tool: String,
        /// The arguments that would have been used.
        arguments: Map<String, Value>,
    },
    /// A running call tells how far it is.
    CallProgress {
        /// The runtime's id for it.
        id: String,
        /// In a few words, which may come from a stranger.
        words: String,
    },
    /// A call is over, whether or not it ran.
    CallEnded {
        /// The runtime's id for it.
        id: String,
        /// The tool's name.
        tool: String,
        /// One word: `ok`, `failed`, `denied`, …
        status: &'static str,
        /// How long it ran, in seconds.
        seconds: f64,
        /// What the model reads.
        result: String,
    },
    /// The model has answered once, and this is what it used.
    Answered {
        /// `provider/model`.
        model: String,
        /// Tokens of this answer.
        usage: Usage,
        /// Share of the context that is used, 0 to 1, when its size is known.
        context_used: Option<f64>,
    },
    /// Something a person may want to know: a retry, another provider, a shortened conversation.
    Notice {
        /// In words.
        text: String,
    },
    /// The turn is over.
    TurnEnded(TurnEnd),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnEnd {
    /// What became of it.
    pub status: TurnStatus,
    /// The answer; may be empty or cut short when the status is not `answered`.
    pub text: String,
    /// Why it did not end well, in words.
    pub error: Option<String>,
    /// The session's id.
    pub session: String,
    /// The model that answered last, `provider/model`.
    pub model: String,
    /// How often a model was asked.
    pub model_calls: u32,
    /// How many calls of tools there were.
    pub tool_calls: u32,
    /// How many of them were denied by policy or by a person.
    pub denied: u32,
    /// Tokens of the whole turn.
    pub usage: Usage,
    /// US dollars, when the price is known.
    pub cost_usd: Option<f64>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What became of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnStatus {
    /// There is an answer.
    Answered,
    /// It ran out of model calls; the text sums up how far it came.
    OutOfBudget,
    /// A person stopped it.
    Interrupted,
    /// What it needed was denied, and it ended there.
    Denied,
    /// No model could answer.
    ProviderFailed,
    /// Something else went wrong: the record could not be written, the model only repeated itself.
    Failed,
}
