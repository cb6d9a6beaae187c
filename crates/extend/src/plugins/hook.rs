//! The hooks of a plugin as one hook of the road, in the plugin's own scope.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::executor::block_on;
use futures::future::BoxFuture;
use hermes_core::hook::{Before, CallEnd, CallView, EventKind, Hook, HookEvent, HookFailure, Reaction};
use hermes_core::outcome::Status;
use serde_json::{Map, Value, json};

use super::subject::Subject;
use crate::hooks::Observers;
use crate::worker::Doors;

/// The version of what callbacks are told.
const VERSION: &str = "hermes.observer.v1";

/// The event of this name, if it is one that happens here.
pub fn event(name: &str) -> Option<EventKind> {
    EventKind::named(name).filter(|kind| kind.is_told())
}

/// All plugins with hooks: they are asked one after another, but got ready at once.
#[derive(Default)]
pub struct Crew {
    members: Mutex<Vec<Weak<Subject>>>,
    woken: AtomicBool,
}

impl Crew {
    fn join(&self, subject: &Arc<Subject>) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.retain(|member| member.strong_count() > 0);
        members.push(Arc::downgrade(subject));
        self.woken.store(false, Ordering::Release);
    }

    fn wake(&self, doors: &Doors) {
        if self.woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        for member in members.iter().filter_map(Weak::upgrade) {
            doors.tasks.start(Box::pin(async move { member.warm().await }));
        }
    }
}

/// What the hooks of plugins need.
#[derive(Clone)]
pub struct Around {
    /// The other plugins with hooks.
    pub crew: Arc<Crew>,
    /// What it takes to talk with one.
    pub doors: Doors,
    /// Where things go that nobody waits for.
    pub observers: Observers,
}

/// The hooks of one plugin.
pub struct PluginHook {
    name: String,
    events: Vec<EventKind>,
    policy: bool,
    subject: Arc<Subject>,
    around: Around,
    unheard: Arc<Unheard>,
}

/// What happened and was not told yet: in its order, one at a time.
#[derive(Default)]
struct Unheard {
    waiting: Mutex<VecDeque<Value>>,
    telling: Mutex<()>,
}

impl Unheard {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Value>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what has waited longest; why that failed.
    fn tell(&self, subject: &Subject) -> Result<(), String> {
        let _turn = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(told) = self.waiting().pop_front() else { return Ok(()) };
        let said = block_on(subject.ask_soon("hook", told)).map_err(|wrong| wrong.to_string())?;
        let errors = said.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }
}

impl PluginHook {
    /// The hooks of a plugin; nothing when it wants to hear of nothing that happens here.
    pub fn of(
        plugin: &str,
        events: &[String],
        policy: bool,
        subject: &Arc<Subject>,
        around: &Around,
    ) -> Option<Arc<dyn Hook>> {
        let events: Vec<EventKind> = events.iter().filter_map(|name| event(name)).collect();
        if events.is_empty() {
            return None;
        }
        around.crew.join(subject);
        Some(Arc::new(Self {
            name: format!("plugin {plugin}"),
            events,
            policy,
            subject: Arc::clone(subject),
            around: around.clone(),
            unheard: Arc::default(),
        }))
    }

    fn is_for(&self, event: EventKind) -> bool {
        self.events.contains(&event)
    }

    /// Tells its callbacks by and by.
    fn observe(&self, event: EventKind, payload: &Value) {
        let told = json!({ "event": event.name(), "payload": payload });
        self.unheard.waiting().push_back(told);
        let (subject, unheard, name) =
            (Arc::clone(&self.subject), Arc::clone(&self.unheard), self.name.clone());
        let job = move || unheard.tell(&subject).map_err(|why| format!("{name}: {why}"));
        if !self.around.observers.add(job) {
            self.unheard.waiting().pop_back();
        }
    }

    /// What its callbacks say, in their order.
    async fn ask(&self, event: EventKind, payload: Value) -> Result<Vec<Value>, HookFailure> {
        self.around.crew.wake(&self.around.doors);
        let said = self.subject.ask("hook", json!({ "event": event.name(), "payload": payload })).await;
        let mut said = said.map_err(|wrong| HookFailure(wrong.to_string()))?;
        let errors: Vec<String> =
            list(&mut said, "errors").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let answers = list(&mut said, "answers");
        if answers.is_empty() && !errors.is_empty() {
            return Err(HookFailure(errors.join("; ")));
        }
        Ok(answers)
    }
}

fn list(said: &mut Value, key: &str) -> Vec<Value> {
    match said.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// What every callback is told about a call.
fn payload(call: &CallView) -> Map<String, Value> {
    let session = call.session.as_ref();
    let told = json!({
        "tool_name": call.tool.as_ref(),
        "args": call.arguments,
        "task_id": session,
        "session_id": session,
        "tool_call_id": call.given_id,
        "turn_id": call.turn_id(),
        "api_request_id": call.request_id(),
        "middleware_trace": [],
        "telemetry_schema_version": VERSION,
    });
    match told {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The same once it is over.
fn ended(call: &CallView, end: &CallEnd) -> Value {
    let (status, error_type) = match end.status {
        Status::Ok => ("ok", None),
        Status::Denied => ("blocked", Some("plugin_block")),
        Status::Repeated => ("blocked", Some("guardrail_block")),
        Status::Cancelled => ("cancelled", Some("keyboard_interrupt")),
        Status::TimedOut => ("timeout", Some("tool_timeout")),
        _ => ("error", Some("tool_error")),
    };
    let mut fields = payload(call);
    let error = end.result.get("error").and_then(Value::as_str);
    fields.insert("result".to_owned(), json!(end.result.to_string()));
    fields.insert("duration_ms".to_owned(), json!(end.took.as_millis()));
    fields.insert("status".to_owned(), json!(status));
    fields.insert("error_type".to_owned(), json!(error_type));
    fields.insert("error_message".to_owned(), json!(error_type.and(error)));
    Value::Object(fields)
}

/// What an answer means; `None` for one that means nothing.
fn action(answer: &Value) -> Option<Before> {
    let message = answer.get("message").and_then(Value::as_str).filter(|text| !text.is_empty());
    match answer.get("action").and_then(Value::as_str)? {
        // In the original a block without a message is passed over; a block is a block here.
        "block" => Some(Before::Block { message: message.unwrap_or("blocked without a reason").to_owned() }),
        "approve" => Some(Before::Ask { message: message.unwrap_or("a plugin wants to be sure").to_owned() }),
        "rewrite" => Some(Before::Rewrite(answer.get("args").and_then(Value::as_object)?.clone())),
        _ => None,
    }
}

impl Hook for PluginHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_policy(&self) -> bool {
        self.policy
    }

    fn before<'a>(&'a self, call: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
        if !self.is_for(EventKind::PreToolCall) {
            return Box::pin(std::future::ready(Ok(Before::Continue)));
        }
        Box::pin(async move {
            let answers = self.ask(EventKind::PreToolCall, Value::Object(payload(call))).await?;
            Ok(answers.iter().find_map(action).unwrap_or(Before::Continue))
        })
    }

    fn transform<'a>(
        &'a self,
        call: &'a CallView,
        end: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        let (printed, result) = (EventKind::TransformTerminalOutput, EventKind::TransformToolResult);
        let prints = self.is_for(printed) && &*call.tool == "terminal" && end.result.get("output").is_some();
        if !prints && !self.is_for(result) {
            return Box::pin(std::future::ready(Ok(None)));
        }
        Box::pin(async move {
            let (mut end, mut changed) = (end.clone(), false);
            if prints {
                let text = self.ask(printed, output(call, &end)).await?.into_iter().find_map(text);
                if let (Some(text), Some(fields)) = (text, end.result.as_object_mut()) {
                    fields.insert("output".to_owned(), Value::String(text));
                    changed = true;
                }
            }
            if self.is_for(result) {
                let text = self.ask(result, ended(call, &end)).await?.into_iter().find_map(text);
                if let Some(text) = text {
                    end.result = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    changed = true;
                }
            }
            Ok(changed.then_some(end.result))
        })
    }

    fn after<'a>(&'a self, call: &'a CallView, end: &'a CallEnd) -> BoxFuture<'a, ()> {
        if self.is_for(EventKind::PostToolCall) {
            self.observe(EventKind::PostToolCall, &ended(call, end));
        }
        Box::pin(std::future::ready(()))
    }

    fn hears(&self, kind: EventKind) -> bool {
        self.is_for(kind)
    }

    fn told<'a>(&'a self, event: &'a HookEvent) -> BoxFuture<'a, Result<Option<Reaction>, HookFailure>> {
        let mut payload = event.facts.clone();
        payload.insert("session_id".to_owned(), json!(event.session));
        payload.insert("telemetry_schema_version".to_owned(), json!(VERSION));
        let payload = Value::Object(payload);
        if event.kind.is_observed() {
            self.observe(event.kind, &payload);
            return Box::pin(std::future::ready(Ok(None)));
        }
        Box::pin(async move {
            let answers = self.ask(event.kind, payload).await?;
            Ok(answers.iter().find_map(|answer| Reaction::of(event.kind, answer)))
        })
    }
}

/// A text, if that is what a callback said.
fn text(answer: Value) -> Option<String> {
    match answer {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// What is told of what a command printed.
fn output(call: &CallView, end: &CallEnd) -> Value {
    json!({
        "command": call.arguments.get("command"), "output": end.result.get("output"),
        "returncode": end.result.get("exit_code"), "task_id": call.session.as_ref(),
        "session_id": call.session.as_ref(), "telemetry_schema_version": VERSION,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_callbacks_are_understood_or_passed_over() {
        let block = json!({ "action": "block", "message": "no" });

        assert_eq!(action(&block), Some(Before::Block { message: "no".to_owned() }));
        assert!(matches!(action(&json!({ "action": "block" })), Some(Before::Block { .. })));
        assert!(matches!(action(&json!({ "action": "approve" })), Some(Before::Ask { .. })));
        assert_eq!(action(&json!({ "action": "dance" })), None);
        assert_eq!(action(&json!("block")), None);
    }
}
