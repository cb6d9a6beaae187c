//! The contract for handing work to other agents.
//!
//! Whoever owns a session puts [`Delegates`] into its extensions when it can start others. A task is
//! worked on by an agent with a conversation of its own, whose calls take the road by themselves.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::model::Usage;

/// Starts other agents.
pub trait Delegates: Send + Sync {
    /// What may be asked of it.
    fn limits(&self) -> Limits;

    /// Works on all tasks and waits for them. One end comes back for each task, in their order; when
    /// the call is stopped, they are stopped too and end as interrupted.
    fn run<'a>(&'a self, tasks: Vec<Task>, from: Giver<'a>) -> BoxFuture<'a, Vec<End>>;

    /// Starts on all tasks and returns: the ends come into the conversation later. Gives the id they
    /// will come under, or says why nothing was started.
    fn dispatch<'a>(&'a self, tasks: Vec<Task>, from: Giver<'a>) -> BoxFuture<'a, Result<String, String>>;
}

/// What may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most tasks of one call.
    pub tasks: usize,
    /// Whether a task may be handed on by the one who got it.
    pub orchestrators: bool,
    /// Whether ends can come into the conversation later.
    pub background: bool,
}

/// The call that hands work on.
#[derive(Debug, Clone, Copy)]
pub struct Giver<'a> {
    /// Its session.
    pub session: &'a str,
    /// Its id.
    pub call: &'a str,
    /// Fires when the work is not wanted any more.
    pub cancel: &'a CancellationToken,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What is to be reached.
    pub goal: String,
    /// What must be known for it.
    pub context: Option<String>,
    /// Whether it may be handed on.
    pub role: Role,
}

/// Whether a task may be handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// It is done by the one who gets it.
    #[default]
    Leaf,
    /// Parts of it may be handed on.
    Orchestrator,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// In one word.
    pub status: EndStatus,
    /// What the agent reports.
    pub summary: Option<String>,
    /// How often its model was asked.
    pub api_calls: u64,
    /// How long it took.
    pub took: Duration,
    /// The model that worked on it.
    pub model: Option<String>,
    /// Why it stopped, as its loop says it.
    pub exit_reason: String,
    /// Tokens used.
    pub tokens: Usage,
    /// The tools it called, in order.
    pub trace: Vec<Step>,
    /// What went wrong.
    pub error: Option<String>,
    /// Where the whole of it can be read.
    pub transcript: Option<String>,
}

/// One call in the trace of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// What became of the call.
    pub status: String,
    /// Bytes of its arguments.
    pub argument_bytes: usize,
    /// Bytes of its result.
    pub result_bytes: usize,
}

/// How a task ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// With a report.
    Completed,
    /// Without one.
    Failed,
    /// It could not be worked on.
    Error,
    /// It was stopped.
    Interrupted,
    /// It took too long.
    Timeout,
}

impl EndStatus {
    /// Its word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Timeout => "timeout",
        }
    }
}
