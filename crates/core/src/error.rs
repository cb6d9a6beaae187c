//! Why a call failed.

use std::time::Duration;

use crate::environment::EnvError;
use crate::files::FileError;
use crate::host::WorkerLost;
use crate::web::WebError;

/// What a handler answers: a JSON value, or why not.
pub type ToolResult = Result<serde_json::Value, ToolError>;

/// Why a call failed. The kind tells the loop what may help; the text is what the model reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The model can mend the arguments.
    #[error("{0}")]
    Arguments(String),
    /// No such tool in this session.
    #[error("{0}")]
    UnknownTool(String),
    /// Somebody, or a rule, said no.
    #[error("denied by {by}: {why}")]
    Denied {
        /// The rule, hook or person that decided.
        by: String,
        /// The reason, for the model and the record.
        why: String,
    },
    /// The tool tried something it had not declared, so nobody had allowed it.
    #[error("not permitted: {0} was not declared before the call")]
    Undeclared(String),
    /// The tool needs a session's state and there is none.
    #[error("{0} must be handled by the agent loop")]
    NeedsSession(String),
    /// It went on too long.
    #[error("still running after {} s; it was stopped", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It went on too long where we cannot stop it.
    #[error("no answer after {} s; it was asked to stop, and may have run all the same", .0.as_secs_f64())]
    Unanswered(Duration),
    /// It never got to where it would have run.
    #[error("not sent, and not run: what it goes to was not ready within {} s", .0.as_secs_f64())]
    NotSent(Duration),
    /// The time for all calls of one answer was over before its turn came.
    #[error("not run: the {} s for all calls of this answer were over", .0.as_secs_f64())]
    OutOfTime(Duration),
    /// The caller took it back.
    #[error("cancelled before it finished")]
    Cancelled,
    /// The handler broke.
    #[error("[TOOL_ERROR] Tool execution failed: {0}")]
    Broken(String),
    /// The record could not be written, so nothing was run.
    #[error("nothing was run, because the call could not be recorded: {0}")]
    Unrecorded(String),
    /// The tool ran and could not do it.
    #[error("{0}")]
    Failed(String),
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A server could not be asked.
    #[error(transparent)]
    Web(#[from] WebError),
    /// A command could not be run.
    #[error(transparent)]
    Environment(#[from] EnvError),
}

impl ToolError {
    /// Whether the words are the runtime's own: no handler, and so no stranger, had a part in them.
    pub(crate) fn is_ours(&self) -> bool {
        matches!(
            self,
            Self::TimedOut(_)
                | Self::Unanswered(_)
                | Self::OutOfTime(_)
                | Self::Cancelled
                | Self::Unrecorded(_)
                | Self::NeedsSession(_)
        )
    }

    /// The handler panicked with this payload.
    pub(crate) fn broken(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Broken(format!("panic: {}", text.as_deref().unwrap_or("no message")))
    }
}

impl From<WorkerLost> for ToolError {
    fn from(lost: WorkerLost) -> Self {
        Self::Broken(lost.to_string())
    }
}
