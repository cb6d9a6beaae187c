//! What hooks can be told about, beside and around calls.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{Either, select};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Hook, HookFailure};
use crate::host::Host;

/// Everything hooks can be told about, by the names that configurations use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EventKind {
    /// Before a call is judged: may block it, rewrite it, or ask.
    PreToolCall,
    /// After a call: takes note.
    PostToolCall,
    /// What a command printed: may be changed.
    TransformTerminalOutput,
    /// What the model will read of a call: may be changed.
    TransformToolResult,
    /// What the model answered at the end: may be changed.
    TransformLlmOutput,
    /// Before a turn: may add to what the model is told.
    PreLlmCall,
    /// After a turn: takes note.
    PostLlmCall,
    /// Before an answer counts as the end.
    PreVerify,
    /// Before a request to a model: takes note.
    PreApiRequest,
    /// After a request to a model: takes note.
    PostApiRequest,
    /// A request to a model failed.
    ApiRequestError,
    /// A session begins.
    OnSessionStart,
    /// A turn of a session is over.
    OnSessionEnd,
    /// A session is left.
    OnSessionFinalize,
    /// A new session takes the place of another.
    OnSessionReset,
    /// A task was handed to another agent.
    SubagentStart,
    /// Another agent is done with its task.
    SubagentStop,
    /// A message came in through a gateway.
    PreGatewayDispatch,
    /// Somebody is about to be asked.
    PreApprovalRequest,
    /// Somebody has answered.
    PostApprovalResponse,
    /// A task of a board was taken up.
    KanbanTaskClaimed,
    /// A task of a board is done.
    KanbanTaskCompleted,
    /// A task of a board cannot go on.
    KanbanTaskBlocked,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::PreToolCall,
        Self::PostToolCall,
        Self::TransformTerminalOutput,
        Self::TransformToolResult,
        Self::TransformLlmOutput,
        Self::PreLlmCall,
        Self::PostLlmCall,
        Self::PreVerify,
        Self::PreApiRequest,
        Self::PostApiRequest,
        Self::ApiRequestError,
        Self::OnSessionStart,
        Self::OnSessionEnd,
        Self::OnSessionFinalize,
        Self::OnSessionReset,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreGatewayDispatch,
        Self::PreApprovalRequest,
        Self::PostApprovalResponse,
        Self::KanbanTaskClaimed,
        Self::KanbanTaskCompleted,
        Self::KanbanTaskBlocked,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreToolCall => "pre_tool_call",
            Self::PostToolCall => "post_tool_call",
            Self::TransformTerminalOutput => "transform_terminal_output",
            Self::TransformToolResult => "transform_tool_result",
            Self::TransformLlmOutput => "transform_llm_output",
            Self::PreLlmCall => "pre_llm_call",
            Self::PostLlmCall => "post_llm_call",
            Self::PreVerify => "pre_verify",
            Self::PreApiRequest => "pre_api_request",
            Self::PostApiRequest => "post_api_request",
            Self::ApiRequestError => "api_request_error",
            Self::OnSessionStart => "on_session_start",
            Self::OnSessionEnd => "on_session_end",
            Self::OnSessionFinalize => "on_session_finalize",
            Self::OnSessionReset => "on_session_reset",
            Self::SubagentStart => "subagent_start",
            Self::SubagentStop => "subagent_stop",
            Self::PreGatewayDispatch => "pre_gateway_dispatch",
            Self::PreApprovalRequest => "pre_approval_request",
            Self::PostApprovalResponse => "post_approval_response",
            Self::KanbanTaskClaimed => "kanban_task_claimed",
            Self::KanbanTaskCompleted => "kanban_task_completed",
            Self::KanbanTaskBlocked => "kanban_task_blocked",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether something in this program tells about it.
    pub const fn is_told(self) -> bool {
        !matches!(self, Self::PreGatewayDispatch)
    }

    /// Whether nothing waits for what is said to it.
    pub const fn is_observed(self) -> bool {
        !matches!(
            self,
            Self::PreToolCall
                | Self::TransformTerminalOutput
                | Self::TransformToolResult
                | Self::TransformLlmOutput
                | Self::PreLlmCall
                | Self::PreVerify
                | Self::PreGatewayDispatch
        )
    }
}

/// Something that happened beside the calls of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// What.
    pub kind: EventKind,
    /// In which session.
    pub session: String,
    /// The facts, by the names of the original.
    pub facts: Map<String, Value>,
}

impl HookEvent {
    /// Something that happened in a session; `facts` must be an object.
    pub fn new(kind: EventKind, session: impl Into<String>, facts: Value) -> Self {
        let facts = match facts {
            Value::Object(facts) => facts,
            _ => Map::new(),
        };
        Self { kind, session: session.into(), facts }
    }
}

/// The fact that is the answer of a model.
const ANSWER: &str = "response_text";

/// What a hook makes of something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// This is to be told to the model.
    Context(String),
    /// This is the answer instead.
    Answer(String),
    /// It is not the end yet: this is still to be done.
    GoOn(String),
}

impl Reaction {
    /// What the answer of a callback means where this happened; nothing when it means nothing there.
    pub fn of(kind: EventKind, answer: &Value) -> Option<Self> {
        let text = |keys: &[&str]| {
            let said = keys.iter().find_map(|key| answer.get(*key)?.as_str()).or_else(|| answer.as_str())?;
            Some(said.to_owned()).filter(|said| !said.trim().is_empty())
        };
        match kind {
            EventKind::PreLlmCall => text(&["context", "additionalContext"]).map(Self::Context),
            EventKind::TransformLlmOutput => text(&["response_text", "output", "text"]).map(Self::Answer),
            EventKind::PreVerify => {
                let word = |key: &str| answer.get(key).and_then(Value::as_str);
                let goes_on = |key: &str| {
                    let said = word(key).unwrap_or_default().trim().to_lowercase();
                    matches!(said.as_str(), "continue" | "block" | "deny")
                };
                let wanted = goes_on("action") || goes_on("decision");
                let what = word("message").or_else(|| word("reason")).filter(|said| !said.trim().is_empty());
                wanted.then(|| Self::GoOn(what.unwrap_or("look at your work again").to_owned()))
            }
            _ => None,
        }
    }
}

/// What came of telling hooks about something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// What they make of it, in their order. Of answers each was made from the one before.
    pub reactions: Vec<Reaction>,
    /// What went wrong and changes nothing.
    pub notes: Vec<String>,
    /// A policy hook had a say in this and could not answer: what it decides about is denied.
    pub denied: Option<Denial>,
}

/// A no, because somebody who had to be heard could not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy hook {by} failed ({why})")]
pub struct Denial {
    /// Which hook.
    pub by: String,
    /// What was wrong with it.
    pub why: String,
}

/// Tells every hook that wants to hear it, in order, each under its own deadline and panic guard,
/// until `cancel` fires. After a policy hook that fails nobody else is asked.
pub async fn tell(
    hooks: &[Arc<dyn Hook>],
    host: &Arc<dyn Host>,
    mut event: HookEvent,
    cancel: &CancellationToken,
) -> Heard {
    let mut heard = Heard::default();
    for hook in hooks.iter().filter(|hook| hook.hears(event.kind)) {
        let asked = asked(hook, host, &event);
        let answer = match select(Box::pin(asked), Box::pin(cancel.cancelled())).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(HookFailure("it was stopped".to_owned())),
        };
        match answer {
            Ok(None) => {}
            Ok(Some(reaction)) => {
                if let Reaction::Answer(text) = &reaction {
                    event.facts.insert(ANSWER.to_owned(), Value::String(text.clone()));
                }
                heard.reactions.push(reaction);
            }
            Err(HookFailure(why)) if hook.is_policy() && !event.kind.is_observed() => {
                heard.denied = Some(Denial { by: hook.name().to_owned(), why });
                return heard;
            }
            Err(failure) => heard.notes.push(format!("hook {}: {failure}", hook.name())),
        }
    }
    heard
}

/// One answer of a hook.
async fn asked(
    hook: &Arc<dyn Hook>,
    host: &Arc<dyn Host>,
    event: &HookEvent,
) -> Result<Option<Reaction>, HookFailure> {
    let asked = std::panic::AssertUnwindSafe(async { hook.told(event).await }).catch_unwind();
    match select(Box::pin(asked), host.sleep(hook.deadline())).await {
        Either::Left((Ok(answer), _)) => answer,
        Either::Left((Err(_), _)) => Err(HookFailure("it panicked".to_owned())),
        Either::Right(_) => Err(HookFailure(format!("no answer within {} s", hook.deadline().as_secs_f64()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_event_is_found_by_its_name() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::named(kind.name()), Some(kind));
        }
        assert_eq!(EventKind::named("pre_tool"), None);
    }

    #[test]
    fn answers_mean_what_they_can_mean_at_their_event() {
        let of = |kind, answer: Value| Reaction::of(kind, &answer);
        let text = |text: &str| Some(text.to_owned());

        assert_eq!(
            of(EventKind::PreLlmCall, json!({ "context": "it rains" })),
            text("it rains").map(Reaction::Context)
        );
        assert_eq!(of(EventKind::PreLlmCall, json!("it rains")), text("it rains").map(Reaction::Context));
        assert_eq!(of(EventKind::TransformLlmOutput, json!("x")), text("x").map(Reaction::Answer));
        assert_eq!(of(EventKind::TransformLlmOutput, json!("")), None);
        let go_on = json!({ "action": "continue", "message": "run the tests" });
        assert_eq!(of(EventKind::PreVerify, go_on), text("run the tests").map(Reaction::GoOn));
        let block = json!({ "decision": "block", "reason": "no tests" });
        assert_eq!(of(EventKind::PreVerify, block), text("no tests").map(Reaction::GoOn));
        assert_eq!(of(EventKind::PreVerify, json!({ "action": "allow" })), None);
        assert_eq!(of(EventKind::OnSessionEnd, json!("x")), None);
    }
}
