//! Hooks: code that is told about a call before and after it runs, and may have a say; and about what
//! happens beside calls ([`event`]).
//!
//! Hooks run in order (lower first, then as registered), each under its own deadline and panic
//! guard. They see values, never references into the call. A policy hook that fails denies the
//! call; a plain hook that fails is reported and passed over.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::CallId;
use crate::outcome::Status;

pub mod event;

pub use event::{Denial, EventKind, Heard, HookEvent, Reaction, tell};

/// Told about calls; may block, rewrite or ask before, and transform after.
pub trait Hook: Send + Sync {
    /// Its name, in messages and records.
    fn name(&self) -> &str;

    /// Lower runs earlier.
    fn order(&self) -> i32 {
        0
    }

    /// Whether a failure of this hook denies the call, or whatever else it has a say in.
    fn is_policy(&self) -> bool {
        false
    }

    /// How long one answer may take.
    fn deadline(&self) -> Duration {
        Duration::from_mins(1)
    }

    /// Whether it wants to hear about this tool.
    fn wants(&self, _tool: &str) -> bool {
        true
    }

    /// Before the call is judged.
    fn before<'a>(&'a self, _call: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
        Box::pin(std::future::ready(Ok(Before::Continue)))
    }

    /// After the call, to change what the model reads; `None` leaves it.
    fn transform<'a>(
        &'a self,
        _call: &'a CallView,
        _end: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Whether it wants to hear about things of this kind that happen beside calls.
    fn hears(&self, _kind: EventKind) -> bool {
        false
    }

    /// Something happened beside the calls of a session.
    fn told<'a>(&'a self, _event: &'a HookEvent) -> BoxFuture<'a, Result<Option<Reaction>, HookFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// After everything, to take note.
    fn after<'a>(&'a self, _call: &'a CallView, _end: &'a CallEnd) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A call as hooks see it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView {
    /// The runtime's id.
    pub id: CallId,
    /// The caller's id.
    pub given_id: String,
    /// The session's id.
    pub session: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments, validated.
    pub arguments: Map<String, Value>,
    /// The running call that made this one, such as a script's; calls of the model have none.
    pub within: Option<CallId>,
    /// Which turn of its session it belongs to, counted from 1; 0 outside of turns.
    pub turn: u64,
    /// Which request of its session to a model it came from, counted from 1; 0 when it came from none.
    pub request: u64,
}

impl CallView {
    /// A name of its turn, the same for everything that happens in it; empty outside of turns.
    pub fn turn_id(&self) -> String {
        turn_id(&self.session, self.turn)
    }

    /// The id that foreign programs know it by.
    pub fn told_id(&self) -> &str {
        told_id(&self.given_id, &self.id)
    }

    /// A name of the request it came from; empty when it came from none.
    pub fn request_id(&self) -> String {
        request_id(&self.session, self.request)
    }
}

/// What foreign programs are told as the id of a call: the caller's, or ours where it gave none.
pub(crate) fn told_id<'a>(given: &'a str, own: &'a CallId) -> &'a str {
    if given.is_empty() { own.as_str() } else { given }
}

/// What hooks are told as the name of a turn.
pub fn turn_id(session: &str, turn: u64) -> String {
    if turn == 0 { String::new() } else { format!("{session}.turn-{turn}") }
}

/// What hooks are told as the name of a request to a model.
pub fn request_id(session: &str, request: u64) -> String {
    if request == 0 { String::new() } else { format!("{session}.request-{request}") }
}

/// How a call ended, as hooks see it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallEnd {
    /// What became of it.
    pub status: Status,
    /// What the model will read.
    pub result: Value,
    /// How long it ran.
    pub took: Duration,
    /// In which kind of environment it worked (`local`, `docker`, …); nothing when it did not begin.
    pub env_type: Option<Arc<str>>,
}

/// What a hook wants to happen.
#[derive(Debug, Clone, PartialEq)]
pub enum Before {
    /// Go on.
    Continue,
    /// Do not run it.
    Block {
        /// Why, for the model.
        message: String,
    },
    /// Run it with these arguments instead; they are validated again.
    Rewrite(Map<String, Value>),
    /// Run it only if somebody agrees.
    Ask {
        /// Why, for the person.
        message: String,
        /// With these arguments, if with others; they are validated again.
        arguments: Option<Map<String, Value>>,
    },
}

/// A hook could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailure(pub String);
