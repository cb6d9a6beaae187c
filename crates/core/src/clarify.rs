//! The contract for asking the person a question in the middle of the work.
//!
//! Whoever owns a session puts an [`Asker`] into its extensions when there is somebody to ask.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::gate::Gate;

/// How long a person at a terminal has to answer.
pub const USUAL_PATIENCE: Duration = Duration::from_mins(2);

/// Asks a person.
pub trait Asker: Send + Sync {
    /// Shows the question and waits for the answer. Dropping the future takes the question back.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// How long an answer is waited for.
    fn patience(&self) -> Duration {
        USUAL_PATIENCE
    }
}

/// The gate of a tool that asks: it is there when somebody can be asked.
pub fn gate() -> Gate {
    Gate::given::<Arc<dyn Asker>>("somebody who can be asked")
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// In words.
    pub text: String,
    /// Answers to choose from, at most four; the person may always write another.
    pub choices: Vec<String>,
    /// How long whoever asks waits for the answer, where they say so; else as long as the asker does.
    pub patience: Option<Duration>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The person said this.
    Said(String),
    /// Nobody can be asked.
    Nobody,
    /// Nobody answered in time.
    TimedOut,
}
