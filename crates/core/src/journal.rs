//! The record of calls: written before anything happens, and again when it is over.
//!
//! The store implements it. A call whose start cannot be recorded is not run.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::CallId;
use crate::effect::Effect;
use crate::outcome::Outcome;

/// Keeps the record.
pub trait Journal: Send + Sync {
    /// The call is about to run; durable when this returns.
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>>;

    /// The call is over; durable when this returns.
    fn finished<'a>(&'a self, session: &'a str, outcome: &'a Outcome) -> BoxFuture<'a, Result<(), String>>;
}

/// What is known before a call runs.
pub struct Starting<'a> {
    /// The runtime's id.
    pub id: &'a CallId,
    /// The caller's id.
    pub given_id: &'a str,
    /// The session's id.
    pub session: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments that will be used.
    pub arguments: &'a Map<String, Value>,
    /// What was allowed.
    pub effects: &'a [Effect],
}
