//! What hooks are told about a conversation, beside its calls.
//!
//! Hooks that only take note are never waited for. Nothing is put together for an event that no hook
//! wants to hear.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hermes_agent::{TurnEnd, TurnStatus};
use hermes_core::delegate::{End, EndStatus, Role, Task};
use hermes_core::hook::{EventKind, HookEvent, Reaction, tell};
use hermes_core::model::{EventSink, Model, ModelError, ModelEvent, ModelReply, ModelRequest, Part, Price};
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant};
use serde_json::{Value, json};

use super::seat::Seat;
use crate::runtime::Runtime;

/// How long hooks that nobody waits for get when a conversation is closed.
const AT_THE_END: Duration = Duration::from_secs(2);

/// Tells about something; what comes back is what hooks make of it.
async fn told(
    runtime: &Runtime,
    kind: EventKind,
    session: &str,
    facts: impl FnOnce() -> Value,
) -> Vec<Reaction> {
    let snapshot = runtime.current();
    if !snapshot.hooks().iter().any(|hook| hook.hears(kind)) {
        return Vec::new();
    }
    let event = HookEvent::new(kind, session, facts());
    tell(snapshot.hooks(), &runtime.host(), &event).await.0
}

/// Whether a hook wants to hear it.
fn is_wanted(runtime: &Runtime, kind: EventKind) -> bool {
    runtime.current().hooks().iter().any(|hook| hook.hears(kind))
}

/// A turn is about to begin: what hooks want the model to know comes behind what the person says.
pub(super) async fn before_turn(
    runtime: &Runtime,
    seat: &Seat,
    first: bool,
    mut input: Vec<Part>,
) -> Vec<Part> {
    let (id, model) = (seat.id.as_str(), seat.models.choice.name.as_str());
    if first {
        told(runtime, EventKind::OnSessionStart, id, || json!({ "model": model, "platform": "cli" })).await;
    }
    let wanted = is_wanted(runtime, EventKind::PreLlmCall);
    let history = if wanted { seat.log.messages().await.unwrap_or_default() } else { Vec::new() };
    let said = super::words(&input);
    let contexts = told(runtime, EventKind::PreLlmCall, id, || {
        json!({
            "task_id": id, "user_message": said, "conversation_history": history, "is_first_turn": first,
            "model": model, "platform": "cli",
        })
    });
    input.extend(contexts.await.into_iter().filter_map(|reaction| match reaction {
        Reaction::Context(text) => Some(Part::Text { text }),
        _ => None,
    }));
    input
}

/// Whether a hook wants to look at answers before they count as the end.
pub(super) fn verifies(runtime: &Runtime) -> bool {
    is_wanted(runtime, EventKind::PreVerify)
}

/// An answer is about to be the end: what a hook still wants to be done, if one does.
pub(super) async fn still_to_do(
    runtime: &Runtime,
    seat: &Seat,
    attempt: u32,
    end: &TurnEnd,
    changed: &[String],
) -> Option<String> {
    let model = seat.models.choice.name.as_str();
    let reactions = told(runtime, EventKind::PreVerify, &seat.id, || {
        json!({
            "platform": "cli", "model": model, "coding": !changed.is_empty(), "attempt": attempt,
            "final_response": end.text, "changed_paths": changed,
        })
    });
    reactions.await.into_iter().find_map(|reaction| match reaction {
        Reaction::GoOn(message) => Some(message),
        _ => None,
    })
}

/// A turn is over.
pub(super) async fn after_turn(runtime: &Runtime, seat: &Seat, asked: &str, end: &TurnEnd) {
    let (id, model) = (seat.id.as_str(), seat.models.choice.name.as_str());
    told(runtime, EventKind::PostLlmCall, id, || {
        json!({
            "task_id": id, "user_message": asked, "assistant_response": end.text, "model": model,
            "platform": "cli",
        })
    })
    .await;
    told(runtime, EventKind::OnSessionEnd, id, || {
        json!({
            "model": model, "platform": "cli", "completed": end.status == TurnStatus::Answered,
            "interrupted": end.status == TurnStatus::Interrupted,
        })
    })
    .await;
}

/// A session is left; `new` is the one that was begun in its place, if one was.
pub(super) async fn left(runtime: &Runtime, seat: &Seat, new: Option<&str>, reason: &str) {
    let model = seat.models.choice.name.as_str();
    let facts = || json!({ "model": model, "platform": "cli", "reason": reason });
    told(runtime, EventKind::OnSessionFinalize, &seat.id, facts).await;
    if let Some(new) = new {
        told(runtime, EventKind::OnSessionReset, new, facts).await;
    }
}

/// The same where nothing can wait: who only takes note is told at once.
pub(super) fn left_at_once(runtime: &Runtime, seat: &Seat) {
    // Whoever wants to be waited for comes too late.
    let _ = left(runtime, seat, None, "closed").now_or_never();
    // The program may end right after this; what failed has nobody to tell any more.
    let _ = runtime.settle(AT_THE_END);
}

/// A task was handed to another agent.
pub(super) async fn task_began(runtime: &Runtime, parent: &str, task: &Task) {
    told(
        runtime,
        EventKind::SubagentStart,
        parent,
        || json!({ "parent_session_id": parent, "child_role": role(task), "child_goal": task.goal }),
    )
    .await;
}

/// Another agent is done.
pub(super) async fn task_ended(runtime: &Runtime, parent: &str, task: &Task, end: &End) {
    told(runtime, EventKind::SubagentStop, parent, || {
        json!({
            "parent_session_id": parent, "child_session_id": end.transcript, "child_role": role(task),
            "child_summary": end.summary, "child_status": end.status.word(),
            "duration_ms": u64::try_from(end.took.as_millis()).unwrap_or(u64::MAX),
            "completed": end.status == EndStatus::Completed,
        })
    })
    .await;
}

fn role(task: &Task) -> &'static str {
    if task.role == Role::Leaf { "leaf" } else { "orchestrator" }
}

/// The same approver; hooks are told about its questions and answers.
pub(super) fn approver(runtime: &Runtime, inner: &Arc<dyn Approver>) -> Arc<dyn Approver> {
    Arc::new(Told { runtime: runtime.clone(), inner: Arc::clone(inner) })
}

/// The same models; hooks are told about requests.
pub(super) fn models(runtime: &Runtime, list: &[Arc<dyn Model>]) -> Vec<Arc<dyn Model>> {
    let one = |inner: &Arc<dyn Model>| {
        Arc::new(Told { runtime: runtime.clone(), inner: Arc::clone(inner) }) as Arc<dyn Model>
    };
    list.iter().map(one).collect()
}

/// Somebody about whom hooks are told.
struct Told<T: ?Sized> {
    runtime: Runtime,
    inner: Arc<T>,
}

impl Approver for Told<dyn Approver> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        let facts = |choice: Option<&str>| {
            let command = serde_json::from_str::<Value>(&request.arguments)
                .ok()
                .and_then(|arguments| arguments.get("command")?.as_str().map(str::to_owned))
                .unwrap_or_else(|| format!("{} {}", request.tool, request.arguments));
            let mut facts = json!({
                "command": command, "description": request.reason.why, "pattern_key": request.reason.rule,
                "pattern_keys": [request.reason.rule], "session_key": request.session, "surface": "cli",
            });
            if let (Some(fields), Some(choice)) = (facts.as_object_mut(), choice) {
                fields.insert("choice".to_owned(), json!(choice));
            }
            facts
        };
        Box::pin(async move {
            let session = request.session.as_str();
            told(&self.runtime, EventKind::PreApprovalRequest, session, || facts(None)).await;
            let answer = self.inner.ask(request).await;
            let choice = match &answer {
                Answer::Approved(Grant::Always) => "always",
                Answer::Approved(Grant::Once) => "once",
                Answer::Approved(_) => "session",
                Answer::Edited(_) => "edited",
                Answer::Refused { .. } => "deny",
            };
            told(&self.runtime, EventKind::PostApprovalResponse, session, || facts(Some(choice))).await;
            answer
        })
    }
}

impl Told<dyn Model> {
    /// The answer as hooks want it to be. Where one may change it, no word is shown before it has.
    async fn answer(&self, request: &ModelRequest, events: EventSink<'_>) -> Result<ModelReply, ModelError> {
        if !is_wanted(&self.runtime, EventKind::TransformLlmOutput) {
            return self.inner.ask(request, events).await;
        }
        let held = |event: ModelEvent| match event {
            // No words, but a sign of life.
            ModelEvent::Text(_) => events(ModelEvent::Reasoning(String::new())),
            other => events(other),
        };
        let mut reply = self.inner.ask(request, &held).await?;
        if reply.message.calls.is_empty() && !reply.message.text.is_empty() {
            let session = request.session.as_deref().unwrap_or_default();
            let facts =
                || json!({ "response_text": reply.message.text, "model": self.name(), "platform": "cli" });
            let changed = told(&self.runtime, EventKind::TransformLlmOutput, session, facts).await;
            let text = changed.into_iter().find_map(|reaction| match reaction {
                Reaction::Answer(text) => Some(text),
                _ => None,
            });
            if let Some(text) = text {
                reply.message.text = text;
            }
        }
        Ok(reply)
    }
}

impl Model for Told<dyn Model> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn context_tokens(&self) -> Option<u64> {
        self.inner.context_tokens()
    }

    fn sees(&self) -> bool {
        self.inner.sees()
    }

    fn price(&self) -> Option<Price> {
        self.inner.price()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let session = request.session.as_deref().unwrap_or_default();
            let facts = || {
                json!({
                    "model": self.name(), "provider": self.provider(),
                    "message_count": request.messages.len(), "max_tokens": request.max_tokens,
                })
            };
            told(&self.runtime, EventKind::PreApiRequest, session, facts).await;
            let host = self.runtime.host();
            let began = host.now();
            let reply = self.answer(request, events).await;
            let took = u64::try_from(host.now().saturating_sub(began).as_millis()).unwrap_or(u64::MAX);
            let with = |more: Value| {
                let mut facts = facts();
                if let (Some(fields), Value::Object(more)) = (facts.as_object_mut(), more) {
                    fields.extend(more);
                }
                facts
            };
            match &reply {
                Ok(reply) => {
                    let facts = || {
                        with(json!({
                            "api_duration_ms": took, "usage": reply.usage,
                            "assistant_content_chars": reply.message.text.chars().count(),
                            "assistant_tool_call_count": reply.message.calls.len(),
                        }))
                    };
                    told(&self.runtime, EventKind::PostApiRequest, session, facts).await;
                }
                Err(error) => {
                    let facts = || with(json!({ "api_duration_ms": took, "error": error.message }));
                    told(&self.runtime, EventKind::ApiRequestError, session, facts).await;
                }
            }
            reply
        })
    }
}
