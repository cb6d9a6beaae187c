//! What is fixed when a turn begins.

use serde::{Deserialize, Serialize};

/// What a turn may spend, and where it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnSettings {
    /// Most answers of a model, before it is asked to sum up.
    pub budget: u32,
    /// Tools that cost no budget when they are all an answer calls; they save answers themselves.
    /// At most `budget` answers are free this way.
    pub unmetered: Vec<String>,
    /// Most calls of one answer; the rest is answered with an error.
    pub calls_at_once: usize,
    /// Most tokens of one answer, when there is a limit.
    pub max_tokens: Option<u64>,
    /// How many models there are: the first is the one wanted, the others stand in for it.
    pub models: usize,
    /// The model to begin with, when an earlier turn found the first one resting.
    pub first_model: usize,
    /// For jitter; any number.
    pub seed: u64,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            budget: 90,
            unmetered: vec!["execute_code".to_owned()],
            calls_at_once: 64,
            max_tokens: None,
            models: 1,
            first_model: 0,
            seed: 0,
        }
    }
}
