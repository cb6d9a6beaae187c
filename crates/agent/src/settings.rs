//! How an agent works: what it may spend, how patient it is.

use std::time::Duration;

use crate::context::room::ContextSettings;

/// The settings of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// Most answers of a model in one turn.
    pub budget: u32,
    /// Tools that cost no budget when they are all an answer calls.
    pub unmetered: Vec<String>,
    /// Most calls of one answer.
    pub calls_at_once: usize,
    /// Most tokens of one answer.
    pub max_tokens: Option<u64>,
    /// How hard to think, in the provider's words.
    pub effort: Option<String>,
    /// Longest time of one turn, tools and waits included.
    pub deadline: Duration,
    /// Longest silence before a model says its first word, when there is another model to go to. One
    /// that does not stream says its first word when it is done.
    pub first_word: Duration,
    /// Longest silence in the middle of an answer, when there is another model to go to.
    pub stall: Duration,
    /// How many times as patient the agent is when there is no other model.
    pub patience_alone: u32,
    /// How long tools may take to stop after they were told to.
    pub grace: Duration,
    /// How long a model is not asked first after it said that it had enough.
    pub rest: Duration,
    /// How long a model may take to sum up what a conversation is shortened by.
    pub summary: Duration,
    /// How the context is kept in bounds.
    pub context: ContextSettings,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            budget: 90,
            unmetered: vec!["execute_code".to_owned()],
            calls_at_once: 64,
            max_tokens: None,
            effort: None,
            deadline: Duration::from_hours(4),
            first_word: Duration::from_mins(1),
            stall: Duration::from_secs(30),
            patience_alone: 5,
            grace: Duration::from_secs(5),
            rest: Duration::from_mins(1),
            summary: Duration::from_mins(1),
            context: ContextSettings::default(),
        }
    }
}
