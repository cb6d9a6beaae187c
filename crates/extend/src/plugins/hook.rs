//! The hooks of a plugin as one hook of the road, in the plugin's own scope.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::channel::oneshot;
use futures::future::{BoxFuture, select};
use hermes_core::hook::{Before, CallEnd, CallView, Hook, HookFailure};
use hermes_core::outcome::Status;
use serde_json::{Map, Value, json};

use super::subject::Subject;
use crate::worker::Doors;

const BEFORE: &str = "pre_tool_call";
const TRANSFORM: &str = "transform_tool_result";
const AFTER: &str = "post_tool_call";

/// Events that happen here; a plugin that wants others is told so.
pub const EVENTS: [&str; 3] = [BEFORE, TRANSFORM, AFTER];

/// How long an observer is waited for; it may take longer, but the call goes on.
const OBSERVER: Duration = Duration::from_millis(250);

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

/// The hooks of one plugin.
pub struct PluginHook {
    name: String,
    events: Vec<String>,
    policy: bool,
    subject: Arc<Subject>,
    crew: Arc<Crew>,
    doors: Doors,
}

impl PluginHook {
    /// The hooks of a plugin; nothing when it wants to hear of nothing that happens here.
    pub fn of(
        plugin: &str,
        events: &[String],
        policy: bool,
        subject: &Arc<Subject>,
        (crew, doors): (&Arc<Crew>, &Doors),
    ) -> Option<Arc<dyn Hook>> {
        let events: Vec<String> =
            events.iter().filter(|event| EVENTS.contains(&event.as_str())).cloned().collect();
        if events.is_empty() {
            return None;
        }
        crew.join(subject);
        let (name, subject, crew) = (format!("plugin {plugin}"), Arc::clone(subject), Arc::clone(crew));
        Some(Arc::new(Self { name, events, policy, subject, crew, doors: doors.clone() }))
    }

    fn hears(&self, event: &str) -> bool {
        self.events.iter().any(|known| known == event)
    }

    /// What its callbacks say, in their order.
    async fn ask(&self, event: &str, payload: Value) -> Result<Vec<Value>, HookFailure> {
        self.crew.wake(&self.doors);
        let said = self.subject.ask("hook", json!({ "event": event, "payload": payload })).await;
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
        "turn_id": "",
        "api_request_id": "",
        "middleware_trace": [],
        "telemetry_schema_version": "hermes.observer.v1",
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
        if !self.hears(BEFORE) {
            return Box::pin(std::future::ready(Ok(Before::Continue)));
        }
        Box::pin(async move {
            let answers = self.ask(BEFORE, Value::Object(payload(call))).await?;
            Ok(answers.iter().find_map(action).unwrap_or(Before::Continue))
        })
    }

    fn transform<'a>(
        &'a self,
        call: &'a CallView,
        end: &'a CallEnd,
    ) -> BoxFuture<'a, Result<Option<Value>, HookFailure>> {
        if !self.hears(TRANSFORM) {
            return Box::pin(std::future::ready(Ok(None)));
        }
        Box::pin(async move {
            let answers = self.ask(TRANSFORM, ended(call, end)).await?;
            let text = answers.into_iter().find_map(|answer| match answer {
                Value::String(text) => Some(text),
                _ => None,
            });
            Ok(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
        })
    }

    fn after<'a>(&'a self, call: &'a CallView, end: &'a CallEnd) -> BoxFuture<'a, ()> {
        if !self.hears(AFTER) {
            return Box::pin(std::future::ready(()));
        }
        let (subject, told) = (Arc::clone(&self.subject), ended(call, end));
        let (tell, done) = oneshot::channel();
        self.doors.tasks.start(Box::pin(async move {
            // An observer that fails has said so in its log.
            let _ = subject.ask_soon("hook", json!({ "event": AFTER, "payload": told })).await;
            let _ = tell.send(());
        }));
        let patience = self.doors.host.sleep(OBSERVER);
        Box::pin(select(done, patience).map(drop))
    }
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
