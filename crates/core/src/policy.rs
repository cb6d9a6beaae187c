//! Who decides whether a call may do what it declared.
//!
//! Policy looks at effects and answers allow, ask or deny; an ask goes to the session's approver.
//! Both are contracts: the shell-aware policy lives in its own crate. What the core brings is the
//! careful default, which lets a call look and asks about everything else.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::CallId;
use crate::effect::Effect;
use crate::session::Session;

/// Judges what calls would do.
pub trait Policy: Send + Sync {
    /// The verdict on one call.
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict;
}

/// What policy gets to see.
pub struct PolicyRequest<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The session that calls.
    pub session: &'a Session,
    /// The arguments, validated.
    pub arguments: &'a Map<String, Value>,
    /// What the call would do.
    pub effects: &'a [Effect],
}

/// What policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// Somebody has to agree first.
    Ask(Reason),
    /// It may not run.
    Deny(Reason),
}

/// Why a verdict was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The rule that decided.
    pub rule: String,
    /// What it found, in words.
    pub why: String,
}

/// A question to the session's approver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The call it is about.
    pub call: CallId,
    /// The session that calls.
    pub session: String,
    /// The tool's name.
    pub tool: String,
    /// The exact arguments, as JSON; the answer holds for these alone.
    pub arguments: String,
    /// What the call would do.
    pub effects: Vec<Effect>,
    /// Why it is asked.
    pub reason: Reason,
}

/// An approver's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Approved,
    /// No.
    Refused {
        /// Who said it.
        by: String,
        /// Their words.
        why: String,
    },
}

/// Answers for a person, or in their place.
pub trait Approver: Send + Sync {
    /// Waits for the answer to one question.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer>;
}

/// Nobody is there: every question is answered with no, at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Approver for Nobody {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        let why = format!("{}; it needs approval and nobody can be asked here", request.reason.why);
        Box::pin(std::future::ready(Answer::Refused { by: request.reason.rule.clone(), why }))
    }
}

/// Lets a call look at files and session state and change session state; asks about everything else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Careful;

impl Policy for Careful {
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict {
        let harmless =
            |effect: &&Effect| matches!(effect, Effect::Read(_) | Effect::ReadSlot(_) | Effect::WriteSlot(_));
        match request.effects.iter().find(|effect| !harmless(effect)) {
            None => Verdict::Allow,
            Some(effect) => {
                Verdict::Ask(Reason { rule: "careful".to_owned(), why: format!("{} {effect}", request.tool) })
            }
        }
    }
}
