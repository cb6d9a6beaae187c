//! The record of a conversation, as an agent needs it: what was said is written down before anything
//! follows from it.
//!
//! The store implements it, for one session at a time. A turn whose record cannot be written stops.

use std::any::Any;

use futures::future::BoxFuture;

use crate::model::{Message, Usage};

/// The right to speak in a conversation, given back when it is dropped.
pub type Floor = Box<dyn Any + Send + Sync>;

/// Keeps one session's conversation.
pub trait Conversation: Send + Sync {
    /// The floor, unless another turn holds it, in this program or another. What a program that was
    /// killed in a turn left unanswered is answered before the floor is given.
    fn floor(&self) -> BoxFuture<'_, Result<Option<Floor>, String>>;

    /// Adds messages; they are kept when this returns.
    fn append<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>>;

    /// The messages a model is to see, oldest first.
    fn messages(&self) -> BoxFuture<'_, Result<Vec<Message>, String>>;

    /// Puts a shorter conversation in place of the one so far, all or nothing. The old messages can
    /// still be read and searched.
    fn replace<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<(), String>>;

    /// Keeps a text that is too long for the context and gives the id it can be read again under.
    fn page_out<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<String, String>>;

    /// The system prompt this session began with, byte for byte.
    fn system_prompt(&self) -> BoxFuture<'_, Result<Option<String>, String>>;

    /// Keeps the system prompt.
    fn set_system_prompt<'a>(&'a self, prompt: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Counts what one answer of a model used and cost, and what for (`chat`, `compression`, …).
    fn spent<'a>(&'a self, spent: &'a Spent) -> BoxFuture<'a, Result<(), String>>;

    /// Returns when everything is safe from a power cut.
    fn sync(&self) -> BoxFuture<'_, Result<(), String>>;
}

/// What one answer of a model used.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The model that answered.
    pub model: String,
    /// Its provider.
    pub provider: String,
    /// What it was asked for.
    pub task: &'static str,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, when the price is known.
    pub cost_usd: Option<f64>,
}
