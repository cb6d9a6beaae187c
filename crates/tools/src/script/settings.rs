//! Limits of scripts, as the configuration sets them.

use std::time::Duration;

use hermes_core::environment::Stands;

/// How long scripts may take, how much they may do and how much of their output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptSettings {
    /// A script is stopped after this.
    pub timeout: Duration,
    /// Most calls of tools one script may make.
    pub calls: u64,
    /// Most bytes of standard output in an answer.
    pub keep: usize,
    /// Most bytes of standard error in an answer.
    pub keep_errors: usize,
    /// Most memory each of its processes may ask for, in bytes.
    pub memory: Option<u64>,
    /// Where scripts stand.
    pub stands: Stands,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(5),
            calls: 50,
            keep: 50_000,
            keep_errors: 10_000,
            memory: Some(4 * 1024 * 1024 * 1024),
            stands: Stands::InProject,
        }
    }
}
