//! What comes back from children, in the shape the model reads.

use serde::Serialize;

use super::plan::Limits;
use super::trace::Traced;
use crate::context::{head, tail};
use crate::event::{TurnEnd, TurnStatus};

/// What became of all children.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delegated {
    /// One for each task, in order.
    pub results: Vec<ChildReport>,
    /// How long all of it took.
    pub total_duration_seconds: f64,
}

/// What became of one child.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChildReport {
    /// The task's place.
    pub task_index: usize,
    /// What became of it.
    pub status: ChildStatus,
    /// What the child says it did.
    pub summary: String,
    /// How often a model was asked.
    pub api_calls: u32,
    /// How long it took.
    pub duration_seconds: f64,
    /// The model that answered last.
    pub model: String,
    /// Why it ended.
    pub exit_reason: &'static str,
    /// Tokens.
    pub tokens: Tokens,
    /// The tools it called.
    pub tool_trace: Vec<Traced>,
    /// The child's session, where everything can be read.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What became of a child, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildStatus {
    /// It has an answer.
    Completed,
    /// It ended without.
    Failed,
    /// It could not begin, or broke.
    Error,
    /// It was stopped.
    Interrupted,
    /// It took too long.
    Timeout,
}

/// Tokens of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Answered.
    pub output: u64,
}

impl ChildReport {
    /// Of a child whose turn ended.
    pub(super) fn ended(index: usize, end: TurnEnd, tool_trace: Vec<Traced>, limits: &Limits) -> Self {
        let (status, exit_reason) = match end.status {
            TurnStatus::Answered => (ChildStatus::Completed, "completed"),
            TurnStatus::OutOfBudget => (ChildStatus::Completed, "max_iterations"),
            TurnStatus::Interrupted => (ChildStatus::Interrupted, "interrupted"),
            TurnStatus::Denied => (ChildStatus::Failed, "denied"),
            TurnStatus::ProviderFailed => (ChildStatus::Failed, "provider_failed"),
            TurnStatus::Failed => (ChildStatus::Failed, "failed"),
        };
        Self {
            task_index: index,
            status,
            summary: capped(&end.text, limits.summary, &end.session),
            api_calls: end.model_calls,
            duration_seconds: end.seconds,
            model: end.model,
            exit_reason,
            tokens: Tokens { input: end.usage.input, output: end.usage.output },
            tool_trace,
            session: end.session,
            error: end.error,
        }
    }

    /// Of a child that could not begin, or broke.
    pub(super) fn broken(index: usize, error: String, seconds: f64) -> Self {
        Self {
            task_index: index,
            status: ChildStatus::Error,
            summary: String::new(),
            api_calls: 0,
            duration_seconds: seconds,
            model: String::new(),
            exit_reason: "error",
            tokens: Tokens::default(),
            tool_trace: Vec::new(),
            session: String::new(),
            error: Some(error),
        }
    }
}

fn capped(text: &str, most: usize, session: &str) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (first, last) = (most / 10 * 7, most / 10 * 2);
    let left_out = count.saturating_sub(first + last);
    format!(
        "{}\n[… {left_out} characters left out; the whole answer is in session {session} …]\n{}",
        head(text, first),
        tail(text, last)
    )
}
