//! What hooks are told about a conversation, beside its calls.
//!
//! Hooks that only take note are never waited for. Nothing is put together for an event that no hook
//! wants to hear.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hermes_agent::{Event, TurnEnd, TurnStatus};
use hermes_core::delegate::{End, EndStatus, Role, Task};
use hermes_core::hook::{Denial, EventKind, Heard, HookEvent, Reaction, request_id, tell, turn_id};
use hermes_core::model::{
    EventSink, Message, Model, ModelError, ModelEvent, ModelReply, ModelRequest, Part, Price,
};
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::seat::Seat;
use crate::runtime::Runtime;
use crate::session::Session;

/// How long hooks that nobody waits for get when a conversation is closed.
pub(super) const AT_THE_END: Duration = Duration::from_secs(2);
/// Longest context of a hook that the model reads whole; a longer one goes to a file.
const MAX_CONTEXT: usize = 10_000;
/// How much of each end of a longer one is shown.
const CONTEXT_END: usize = 500;

/// Why a turn does not begin, or does not count as answered.
pub(super) struct No {
    pub(super) status: TurnStatus,
    pub(super) why: String,
}

impl No {
    /// A policy hook could not answer, because it failed or because somebody stopped it.
    fn of(denial: &Denial, what: &str, cancel: &CancellationToken) -> Self {
        if cancel.is_cancelled() {
            return Self { status: TurnStatus::Interrupted, why: "interrupted".to_owned() };
        }
        Self { status: TurnStatus::Denied, why: format!("{what}: {denial}") }
    }
}

/// What was said about hooks already, so that a hook that fails at every call is told about once.
#[derive(Clone, Default)]
pub(super) struct Notes(Arc<Mutex<BTreeSet<String>>>);

impl Notes {
    /// Whether this is about a hook and was said before; from now on it was.
    pub(super) fn knows(&self, event: &Event) -> bool {
        let Event::Notice { text } = event else { return false };
        let about_hook = text.contains("hook ") || text.starts_with("plugin ");
        about_hook && !self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone())
    }
}

/// Why the last answer is not what the model said, if a hook that had to look at it could not.
#[derive(Clone, Default)]
pub(crate) struct Withheld(Arc<Mutex<Option<String>>>);

impl Withheld {
    fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// The end of a turn as it is told: an answer that is withheld is none.
    pub(super) fn judged(&self, mut end: TurnEnd) -> TurnEnd {
        let why = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (TurnStatus::Answered, Some(why)) = (end.status, why) {
            (end.status, end.error) = (TurnStatus::Denied, Some(why));
        }
        end
    }
}

/// Tells about something; what comes back is what hooks make of it.
async fn told(
    runtime: &Runtime,
    kind: EventKind,
    session: &str,
    cancel: &CancellationToken,
    facts: impl FnOnce() -> Value,
) -> Heard {
    let snapshot = runtime.current();
    if !snapshot.hooks().iter().any(|hook| hook.hears(kind)) {
        return Heard::default();
    }
    let event = HookEvent::new(kind, session, facts());
    let mut heard = tell(snapshot.hooks(), &runtime.host(), event, cancel).await;
    for note in std::mem::take(&mut heard.notes) {
        runtime.note_of_hook(&note);
    }
    if let Some(denial) = &mut heard.denied {
        // It may quote what a hook said.
        denial.why = runtime.secrets().at_once(&denial.why).into_owned();
    }
    heard
}

/// The same about something that hooks have no say in.
async fn noted(runtime: &Runtime, kind: EventKind, session: &str, facts: impl FnOnce() -> Value) {
    told(runtime, kind, session, &CancellationToken::new(), facts).await;
}

/// Whether a hook wants to hear it.
fn is_wanted(runtime: &Runtime, kind: EventKind) -> bool {
    runtime.current().hooks().iter().any(|hook| hook.hears(kind))
}

/// The name of the turn that a session is in.
fn turn_of(session: &Session) -> String {
    turn_id(session.id(), session.state().turn())
}

/// A turn is about to begin: what hooks want the model to know comes behind what the person says.
pub(super) async fn before_turn(
    runtime: &Runtime,
    seat: &Seat,
    first: bool,
    mut input: Vec<Part>,
    cancel: &CancellationToken,
) -> Result<Vec<Part>, No> {
    let (id, model) = (seat.id.as_str(), seat.models.choice.name.as_str());
    if first {
        noted(runtime, EventKind::OnSessionStart, id, || json!({ "model": model, "platform": "cli" })).await;
    }
    let history = history(runtime, seat, EventKind::PreLlmCall).await;
    let said = super::words(&input);
    let heard = told(runtime, EventKind::PreLlmCall, id, cancel, || {
        json!({
            "task_id": id, "turn_id": turn_of(&seat.session), "user_message": said,
            "conversation_history": history, "is_first_turn": first, "model": model, "platform": "cli",
            "sender_id": "",
        })
    });
    let heard = heard.await;
    if let Some(denial) = &heard.denied {
        return Err(No::of(denial, "the turn is refused", cancel));
    }
    for reaction in heard.reactions {
        if let Reaction::Context(text) = reaction {
            input.push(Part::Text { text: bounded(runtime, id, text).await });
        }
    }
    Ok(input)
}

/// The conversation so far, if a hook wants to hear of it.
async fn history(runtime: &Runtime, seat: &Seat, kind: EventKind) -> Vec<Message> {
    if is_wanted(runtime, kind) { seat.log.messages().await.unwrap_or_default() } else { Vec::new() }
}

/// A context that the model can read: of a long one both ends, and where the whole is.
async fn bounded(runtime: &Runtime, session: &str, text: String) -> String {
    let length = text.chars().count();
    if length <= MAX_CONTEXT {
        return text;
    }
    let start: String = text.chars().take(CONTEXT_END).collect();
    let end: String = text.chars().skip(length - CONTEXT_END).collect();
    let left = length - 2 * CONTEXT_END;
    let id = format!("hook-context-{}", runtime.unique());
    let kept = match runtime.spill() {
        Some(spill) => spill.keep(session, &id, text).await.ok(),
        None => None,
    };
    let whole = kept.map(|path| format!("; the whole is in {}", path.display())).unwrap_or_default();
    format!("{start}\n[… {left} characters of this hook's context left out{whole} …]\n{end}")
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
    cancel: &CancellationToken,
) -> Result<Option<String>, No> {
    let model = seat.models.choice.name.as_str();
    let heard = told(runtime, EventKind::PreVerify, &seat.id, cancel, || {
        json!({
            "platform": "cli", "model": model, "coding": !changed.is_empty(), "attempt": attempt,
            "turn_id": turn_of(&seat.session), "final_response": end.text, "changed_paths": changed,
        })
    });
    let heard = heard.await;
    if let Some(denial) = &heard.denied {
        return Err(No::of(denial, "the answer does not count", cancel));
    }
    if cancel.is_cancelled() {
        return Err(No { status: TurnStatus::Interrupted, why: "interrupted".to_owned() });
    }
    Ok(heard.reactions.into_iter().find_map(|reaction| match reaction {
        Reaction::GoOn(message) => Some(message),
        _ => None,
    }))
}

/// A turn is over.
pub(super) async fn after_turn(runtime: &Runtime, seat: &Seat, asked: &str, end: &TurnEnd) {
    let (id, model) = (seat.id.as_str(), seat.models.choice.name.as_str());
    let history = history(runtime, seat, EventKind::PostLlmCall).await;
    noted(runtime, EventKind::PostLlmCall, id, || {
        json!({
            "task_id": id, "turn_id": turn_of(&seat.session), "user_message": asked,
            "assistant_response": end.text, "conversation_history": history, "model": model,
            "platform": "cli",
        })
    })
    .await;
    noted(runtime, EventKind::OnSessionEnd, id, || {
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
    noted(runtime, EventKind::OnSessionFinalize, &seat.id, facts).await;
    if let Some(new) = new {
        noted(runtime, EventKind::OnSessionReset, new, facts).await;
    }
}

/// The same where nothing can wait: who only takes note is told at once, and gets a moment.
pub(super) fn left_at_once(runtime: &Runtime, seat: &Seat) {
    // Whoever wants to be waited for comes too late.
    let _ = left(runtime, seat, None, "closed").now_or_never();
    // The program may end right after this. What failed is kept for whoever asks.
    runtime.wait_for_hooks(AT_THE_END);
}

/// A task was handed to another agent.
pub(super) async fn task_began(runtime: &Runtime, parent: &str, child: &str, task: &Task) {
    noted(runtime, EventKind::SubagentStart, parent, || {
        json!({
            "parent_session_id": parent, "child_session_id": child, "child_role": role(task),
            "child_goal": task.goal,
        })
    })
    .await;
}

/// Another agent is done.
pub(super) async fn task_ended(runtime: &Runtime, parent: &str, task: &Task, end: &End) {
    noted(runtime, EventKind::SubagentStop, parent, || {
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
pub(crate) fn approver(runtime: &Runtime, inner: Arc<dyn Approver>) -> Arc<dyn Approver> {
    Arc::new(ToldApprover { runtime: runtime.clone(), inner })
}

/// The same models; hooks are told about requests of this session, and may change its answers.
pub(super) fn models(
    runtime: &Runtime,
    session: &Arc<Session>,
    list: &[Arc<dyn Model>],
    withheld: &Withheld,
) -> Vec<Arc<dyn Model>> {
    let one = |inner: &Arc<dyn Model>| {
        let (inner, session) = (Arc::clone(inner), Arc::clone(session));
        let told = ToldModel { runtime: runtime.clone(), inner, session, withheld: withheld.clone() };
        Arc::new(told) as Arc<dyn Model>
    };
    list.iter().map(one).collect()
}

/// An address without what may be a key: nothing before the host, nothing behind the path.
fn bare(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// An approver about whom hooks are told.
struct ToldApprover {
    runtime: Runtime,
    inner: Arc<dyn Approver>,
}

impl Approver for ToldApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        let facts = |choice: Option<&str>| {
            let command = serde_json::from_str::<Value>(&request.arguments)
                .ok()
                .and_then(|arguments| arguments.get("command")?.as_str().map(str::to_owned))
                .unwrap_or_else(|| format!("{} {}", request.tool, request.arguments));
            let mut facts = json!({
                "command": command, "description": request.reason.why, "pattern_key": request.reason.rule,
                "pattern_keys": [request.reason.rule], "session_key": request.session, "surface": self.inner.surface(),
            });
            if let (Some(fields), Some(choice)) = (facts.as_object_mut(), choice) {
                fields.insert("choice".to_owned(), json!(choice));
            }
            facts
        };
        Box::pin(async move {
            let session = request.session.as_str();
            noted(&self.runtime, EventKind::PreApprovalRequest, session, || facts(None)).await;
            let answer = self.inner.ask(request).await;
            let choice = match &answer {
                Answer::Approved(Grant::Always) => "always",
                Answer::Approved(Grant::Once) => "once",
                Answer::Approved(_) => "session",
                Answer::Edited(_) => "edited",
                Answer::Refused { .. } => "deny",
            };
            noted(&self.runtime, EventKind::PostApprovalResponse, session, || facts(Some(choice))).await;
            answer
        })
    }

    fn surface(&self) -> &'static str {
        self.inner.surface()
    }
}

/// A model about whom hooks are told.
struct ToldModel {
    runtime: Runtime,
    inner: Arc<dyn Model>,
    session: Arc<Session>,
    withheld: Withheld,
}

impl ToldModel {
    /// What the model says, and how long that took. Where a hook may change it, no word is shown before
    /// it has.
    async fn said(
        &self,
        request: &ModelRequest,
        events: EventSink<'_>,
    ) -> (Result<ModelReply, ModelError>, Duration) {
        let host = self.runtime.host();
        let began = host.now();
        let held = |event: ModelEvent| match event {
            // No words, but a sign of life.
            ModelEvent::Text(_) => events(ModelEvent::Reasoning(String::new())),
            other => events(other),
        };
        let holds = is_wanted(&self.runtime, EventKind::TransformLlmOutput);
        let reply = self.inner.ask(request, if holds { &held } else { events }).await;
        (reply, host.now().saturating_sub(began))
    }

    /// The answer as hooks want it to be, each after the one before it. It is withheld when one that had to
    /// look at it could not.
    async fn changed(&self, session: &str, text: &str) -> String {
        // Whoever stops the turn drops this whole, and the hook with it.
        let never = CancellationToken::new();
        let facts = || {
            json!({
                "response_text": text, "model": self.name(), "platform": "cli",
                "turn_id": turn_of(&self.session),
            })
        };
        let heard = told(&self.runtime, EventKind::TransformLlmOutput, session, &never, facts).await;
        let withheld = heard.denied.map(|denial| format!("the answer is withheld: {denial}"));
        self.withheld.set(withheld.clone());
        let last = heard.reactions.into_iter().rev().find_map(|reaction| match reaction {
            Reaction::Answer(text) => Some(text),
            _ => None,
        });
        withheld.or(last).unwrap_or_else(|| text.to_owned())
    }
}

impl Model for ToldModel {
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

    fn address(&self) -> Option<(&str, &'static str)> {
        self.inner.address()
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        events: EventSink<'a>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let session = request.session.as_deref().unwrap_or_default();
            // What was said of an earlier answer does not hold for this one.
            self.withheld.set(None);
            let number = self.session.state().new_request();
            let address = self.address();
            let facts = || {
                json!({
                    "base_url": address.map(|(url, _)| bare(url)), "api_mode": address.map(|(_, mode)| mode),
                    "task_id": session, "turn_id": turn_of(&self.session),
                    "api_request_id": request_id(session, number), "api_call_count": number,
                    "model": self.name(), "provider": self.provider(), "platform": "cli",
                    "message_count": request.messages.len(), "max_tokens": request.max_tokens,
                })
            };
            noted(&self.runtime, EventKind::PreApiRequest, session, facts).await;
            let (mut reply, took) = self.said(request, events).await;
            let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            if let Ok(ModelReply { message, .. }) = &mut reply
                && message.calls.is_empty()
                && !message.text.is_empty()
                && is_wanted(&self.runtime, EventKind::TransformLlmOutput)
            {
                message.text = self.changed(session, &message.text).await;
            }
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
                    noted(&self.runtime, EventKind::PostApiRequest, session, facts).await;
                }
                Err(error) => {
                    let facts = || with(json!({ "api_duration_ms": took, "error": error.message }));
                    noted(&self.runtime, EventKind::ApiRequestError, session, facts).await;
                }
            }
            reply
        })
    }
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn an_address_is_told_without_keys() {
        assert_eq!(bare("https://me:secret@host.test:8/v1?key=secret"), "https://host.test:8/v1");
        assert_eq!(bare("http://host.test"), "http://host.test");
    }
}
