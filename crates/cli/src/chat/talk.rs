//! What the screen needs of an agent: a conversation that can be carried on, looked at and changed.
//!
//! The agent behind it is wired in `open.rs`; tests put a scripted one in its place.

use futures::future::BoxFuture;
use hermes::agent::{EventSink, TurnEnd};
use hermes::core::model::{Message, Part, Usage};
use hermes::core::skills::{Skill, SkillError, View};
use tokio_util::sync::CancellationToken;

/// What was done, or why not, in words for a person.
pub(crate) type Told = Result<String, String>;

/// A conversation with an agent. Everything can be asked while a turn runs; what cannot be done
/// then answers so.
pub(crate) trait Talk: Send + Sync {
    /// The session's id.
    fn session_id(&self) -> String;

    /// What was wrong from the beginning, and was told on standard error.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Leaves it, and says what went wrong at its end.
    fn close(self: Box<Self>) -> Vec<String> {
        Vec::new()
    }

    /// `provider/model`.
    fn model_name(&self) -> String;

    /// Size of the model's context in tokens, when known.
    fn context_tokens(&self) -> Option<u64>;

    /// One turn: from what the person says to the answer. It ends soon after `cancel` is cancelled.
    fn turn<'a>(
        &'a self,
        prompt: Vec<Part>,
        events: EventSink<'a>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, TurnEnd>;

    /// Words for the turn that runs, which it reads after its next call.
    fn steer(&self, text: String);

    /// Shortens the conversation, keeping what matters for `topic`.
    fn compress(&self, topic: Option<String>) -> BoxFuture<'_, Told>;

    /// Takes back the last `turns` turns.
    fn undo(&self, turns: usize) -> BoxFuture<'_, Told>;

    /// What the person said last.
    fn last_user_message(&self) -> BoxFuture<'_, Option<Vec<Part>>>;

    /// Gives the session a title.
    fn rename(&self, title: String) -> BoxFuture<'_, Told>;

    /// The sessions there are, newest first.
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<SessionLine>, String>>;

    /// Goes on with another session: an id, the beginning of one, or a title.
    fn open(&self, name: String) -> BoxFuture<'_, Told>;

    /// Leaves this session and begins another.
    fn new_session(&self) -> BoxFuture<'_, Told>;

    /// Goes on with a copy of this session.
    fn fork(&self, title: Option<String>) -> BoxFuture<'_, Told>;

    /// Answers come from this model from now on.
    fn set_model(&self, name: String) -> BoxFuture<'_, Told>;

    /// How hard the model is to think from now on: a word its provider knows, `none` for not at all, or
    /// nothing for its own choice.
    fn set_effort(&self, effort: Option<String>);

    /// What the session has used so far.
    fn usage(&self) -> BoxFuture<'_, Totals>;

    /// The toolsets of this session.
    fn toolsets(&self) -> Vec<ToolsetLine>;

    /// The tools the model has.
    fn tools(&self) -> Vec<ToolLine>;

    /// Whether commands run without being asked about.
    fn set_yolo(&self, on: bool);

    /// The conversation so far.
    fn history(&self) -> BoxFuture<'_, Vec<Message>>;

    /// The slash commands that plugins brought.
    fn plugin_commands(&self) -> Vec<PluginLine> {
        Vec::new()
    }

    /// Runs a slash command that a plugin brought.
    fn plugin_command(&self, _name: String, _words: String) -> BoxFuture<'_, Told> {
        Box::pin(std::future::ready(Err("no plugin has it".to_owned())))
    }

    /// The skills that can be used.
    fn skills(&self) -> Vec<Skill> {
        Vec::new()
    }

    /// What a skill says that the person wants to be used now, or why it cannot be.
    fn skill(&self, name: &str) -> Result<View, SkillError> {
        Err(SkillError::Unknown { name: name.to_owned(), near: Vec::new() })
    }

    /// What plugins want to be said; each is given out once.
    fn injected(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionLine {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    /// When it was last used, in words.
    pub(crate) when: String,
    pub(crate) messages: u64,
}

/// One slash command of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginLine {
    pub(crate) name: String,
    /// What may follow its name.
    pub(crate) usage: String,
    pub(crate) about: String,
}

/// One toolset in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolsetLine {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Whether the session has it.
    pub(crate) on: bool,
}

/// One tool in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolLine {
    pub(crate) name: String,
    pub(crate) emoji: String,
    pub(crate) toolset: String,
    pub(crate) about: String,
}

/// What a session has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Totals {
    pub(crate) usage: Usage,
    /// US dollars, when every price is known.
    pub(crate) cost_usd: Option<f64>,
    pub(crate) model_calls: u64,
    pub(crate) tool_calls: u64,
    /// Share of the context that is used, 0 to 1, when its size is known.
    pub(crate) context_used: Option<f64>,
}
