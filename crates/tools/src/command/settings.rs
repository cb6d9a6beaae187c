//! Limits of commands, as the configuration sets them.

use std::time::Duration;

/// How long commands may take and how much of their output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSettings {
    /// A command that says nothing else is stopped after this.
    pub timeout: Duration,
    /// The longest a command in the foreground may ask for.
    pub longest: Duration,
    /// Most bytes of output in an answer.
    pub keep: usize,
}

impl Default for TerminalSettings {
    fn default() -> Self {
        Self { timeout: Duration::from_mins(3), longest: Duration::from_mins(10), keep: 50_000 }
    }
}
