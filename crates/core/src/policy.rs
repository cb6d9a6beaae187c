//! Who decides whether a call may do what it declared.
//!
//! Policy looks at effects and answers allow, ask or deny; an ask goes to the session's approver.
//! Both are contracts: the shell-aware policy lives in its own crate. What the core brings is the
//! careful default, which lets a call look and asks about everything else.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::CallId;
use crate::effect::Effect;
use crate::session::Session;

/// Judges what calls would do.
pub trait Policy: Send + Sync {
    /// The verdict on one call.
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict;

    /// Told when somebody agreed to a call, so that the same question need not be asked again.
    ///
    /// A grant covers no more than was shown. [`Grant::Once`] is used up by the call itself and
    /// never comes here.
    fn granted(&self, _request: &PolicyRequest<'_>, _grant: Grant) {}
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason {
    /// The rule that decided.
    pub rule: String,
    /// What it found, in words.
    pub why: String,
    /// Where in the command it was found, when the call is a command.
    pub findings: Vec<Finding>,
    /// The answers that may be given; empty means only this once.
    pub grants: Vec<Grant>,
    /// Whether a second model may say yes in the person's place.
    pub model_may_answer: bool,
}

impl Reason {
    /// A reason in words alone.
    pub fn new(rule: impl Into<String>, why: impl Into<String>) -> Self {
        Self { rule: rule.into(), why: why.into(), ..Self::default() }
    }
}

/// A piece of a command and what it would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: String,
    /// What it would do, in words.
    pub effect: String,
    /// To what.
    pub targets: Vec<String>,
    /// The bytes of the command that cause it.
    pub span: std::ops::Range<usize>,
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
    /// Fingerprint of tool and arguments; a late answer must name it.
    pub digest: u64,
    /// What the call would do.
    pub effects: Vec<Effect>,
    /// Why it is asked.
    pub reason: Reason,
    /// After this long the answer is no.
    pub expires_after: Duration,
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grant {
    /// This call.
    Once,
    /// This exact command, for the session.
    Exact,
    /// This effect on these targets, for the session.
    Targets,
    /// This class of effects, for the session.
    Class,
    /// This class of effects, from now on, written to the configuration.
    Always,
}

/// An approver's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Yes.
    Approved(Grant),
    /// Yes, if it is these arguments instead: they are judged anew, and asked about again if need be.
    Edited(Map<String, Value>),
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

    /// Where the person is asked, for those who are told about it: `cli` unless it says otherwise.
    fn surface(&self) -> &'static str {
        "cli"
    }
}

/// A function that answers at once is an approver.
impl<F: Fn(&ApprovalRequest) -> Answer + Send + Sync> Approver for F {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(self(request)))
    }
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
            Some(effect) => Verdict::Ask(Reason::new("careful", format!("{} {effect}", request.tool))),
        }
    }
}
