//! The hooks of a plugin as one hook of the road, in the plugin's own scope.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::future::BoxFuture;
use hermes_core::hook::{Before, CallEnd, CallView, EventKind, Hook, HookEvent, HookFailure, Reaction};
use hermes_core::outcome::Status;
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::said::Said;
use super::subject::Subject;
use super::unheard::Unheard;
use crate::hooks::Observers;
use crate::hooks::decision::{self, understood};
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
    desk: Arc<Desk>,
    around: Around,
    unheard: Arc<Unheard>,
}

impl PluginHook {
    /// The hooks of a plugin; nothing when it wants to hear of nothing that happens here.
    pub fn of(
        plugin: &str,
        events: &[String],
        policy: bool,
        subject: &Arc<Subject>,
        desk: &Arc<Desk>,
        around: &Around,
    ) -> Option<Arc<dyn Hook>> {
        let events: Vec<EventKind> = events.iter().filter_map(|name| event(name)).collect();
        if events.is_empty() {
            return None;
        }
        around.crew.join(subject);
        let name = format!("plugin {plugin}");
        Some(Arc::new(Self {
            unheard: Unheard::new(&name, subject, desk, &around.observers),
            name,
            events,
            policy,
            subject: Arc::clone(subject),
            desk: Arc::clone(desk),
            around: around.clone(),
        }))
    }

    fn is_for(&self, event: EventKind) -> bool {
        self.events.contains(&event)
    }

    /// Tells its callbacks by and by.
    fn observe(&self, event: EventKind, session: &str, payload: &Value) {
        let told = json!({ "event": event.name(), "payload": payload });
        self.unheard.add(session, told, &self.around.doors.tasks);
    }

    /// What its callbacks say, in their order. Of one with a say in what may run all have to answer.
    async fn ask(&self, event: EventKind, session: &str, payload: Value) -> Result<Vec<Value>, HookFailure> {
        let Said { answers, errors } = self.hear(event, session, payload).await?;
        if !errors.is_empty() && (self.policy || answers.is_empty()) {
            return Err(HookFailure(errors.join("; ")));
        }
        Ok(answers)
    }

    /// What its callbacks say, and what became of those that could not.
    async fn hear(&self, event: EventKind, session: &str, payload: Value) -> Result<Said, HookFailure> {
        self.around.crew.wake(&self.around.doors);
        let admitted = self.desk.admit_hook(session);
        let asked = json!({ "event": event.name(), "payload": payload, "within": admitted.number() });
        let said = self.subject.ask("hook", asked).await;
        Said::of(said.map_err(|wrong| HookFailure(wrong.to_string()))?, self.policy)
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
        "tool_call_id": call.told_id(),
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

/// What all callbacks together want: a block counts whatever the others say; then, of a plugin with a say
/// in what may run, whatever went wrong. Who asks for a person is not overruled by who wants other arguments.
fn verdict(said: &Said, policy: bool) -> Result<Before, HookFailure> {
    let (mut asked, mut arguments, mut wrong) = (None, None, said.errors.clone());
    for answer in &said.answers {
        let changed = match action(answer, policy) {
            Ok(Some(block @ Before::Block { .. })) => return Ok(block),
            Ok(Some(Before::Ask { message, arguments })) => {
                asked.get_or_insert(message);
                arguments
            }
            Ok(Some(Before::Rewrite(arguments))) => Some(arguments),
            Ok(Some(Before::Continue) | None) => None,
            Err(unclear) => {
                wrong.push(unclear);
                None
            }
        };
        // All of them were told of the same call, so that two of them cannot both have their way.
        if arguments.is_some() && changed.is_some() && arguments != changed {
            wrong.push("two of its callbacks want different arguments".to_owned());
        }
        arguments = arguments.or(changed);
    }
    let wanted = match (asked, arguments) {
        (Some(message), arguments) => Some(Before::Ask { message, arguments }),
        (None, arguments) => arguments.map(Before::Rewrite),
    };
    Ok(unless_unclear(wanted, &wrong, policy)?.unwrap_or(Before::Continue))
}

/// What an answer means, in either spelling of the original: `{action, message}` or `{decision, reason}`.
/// `None` for one that wants nothing.
fn action(answer: &Value, policy: bool) -> Result<Option<Before>, String> {
    let Some(fields) = answer.as_object() else {
        // The original passes over what is no mapping; whoever has a say must not be misunderstood.
        let unclear = policy && !answer.is_null();
        return if unclear { Err(format!("{answer} is not an answer that is known")) } else { Ok(None) };
    };
    // In the original a block without a message is passed over; a block is a block here.
    decision::before(fields, "blocked without a reason", "a plugin wants to be sure")
}

/// Why an answer that nothing comes of is not understood where this happened. The original passes over what
/// is no mapping and no text; whoever has a say must not be misunderstood.
fn unclear(kind: EventKind, answer: &Value, policy: bool) -> Option<String> {
    match answer {
        Value::Null => None,
        Value::String(_) if kind != EventKind::PreVerify => None,
        Value::Object(fields) => understood(kind, fields).err(),
        other => policy.then(|| format!("{other} is not an answer that is known")),
    }
}

/// What all callbacks together came to, unless one of a plugin with a say was not understood, or none of
/// another.
fn unless_unclear<T>(wanted: Option<T>, wrong: &[String], policy: bool) -> Result<Option<T>, HookFailure> {
    let counts = wrong.is_empty() || wanted.is_some() && !policy;
    if counts { Ok(wanted) } else { Err(HookFailure(wrong.join("; "))) }
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
            let said = self.hear(EventKind::PreToolCall, &call.session, Value::Object(payload(call))).await?;
            verdict(&said, self.policy)
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
                let said = self.ask(printed, &call.session, output(call, &end)).await?;
                let text = text(printed, &said, self.policy)?;
                if let (Some(text), Some(fields)) = (text, end.result.as_object_mut()) {
                    fields.insert("output".to_owned(), Value::String(text));
                    changed = true;
                }
            }
            if self.is_for(result) {
                let said = self.ask(result, &call.session, ended(call, &end)).await?;
                if let Some(text) = text(result, &said, self.policy)? {
                    end.result = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    changed = true;
                }
            }
            Ok(changed.then_some(end.result))
        })
    }

    fn after<'a>(&'a self, call: &'a CallView, end: &'a CallEnd) -> BoxFuture<'a, ()> {
        if self.is_for(EventKind::PostToolCall) {
            self.observe(EventKind::PostToolCall, &call.session, &ended(call, end));
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
            self.observe(event.kind, &event.session, &payload);
            return Box::pin(std::future::ready(Ok(None)));
        }
        Box::pin(async move {
            let answers = self.ask(event.kind, &event.session, payload).await?;
            reaction(event.kind, &answers, self.policy)
        })
    }
}

/// What comes of all answers: what they want to have told is told together, of all else the first counts.
fn reaction(kind: EventKind, answers: &[Value], policy: bool) -> Result<Option<Reaction>, HookFailure> {
    let wrong: Vec<String> = answers.iter().filter_map(|answer| unclear(kind, answer, policy)).collect();
    let together = |told, next| match (told, next) {
        (Reaction::Context(told), Reaction::Context(next)) => Reaction::Context(format!("{told}\n\n{next}")),
        (told, _) => told,
    };
    let reactions = answers.iter().filter_map(|answer| Reaction::of(kind, answer));
    unless_unclear(reactions.reduce(together), &wrong, policy)
}

/// The first text that a callback said.
fn text(kind: EventKind, answers: &[Value], policy: bool) -> Result<Option<String>, HookFailure> {
    let wrong: Vec<String> = answers.iter().filter_map(|answer| unclear(kind, answer, policy)).collect();
    let first = answers.iter().find_map(Value::as_str).map(str::to_owned);
    unless_unclear(first, &wrong, policy)
}

/// What is told of what a command printed.
fn output(call: &CallView, end: &CallEnd) -> Value {
    json!({
        "command": call.arguments.get("command"), "output": end.result.get("output"),
        "returncode": end.result.get("exit_code"), "task_id": call.session.as_ref(),
        "env_type": end.env_type.as_deref(),
        "session_id": call.session.as_ref(), "telemetry_schema_version": VERSION,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(message: &str) -> Before {
        Before::Block { message: message.to_owned() }
    }

    #[test]
    fn answers_of_callbacks_are_understood_in_both_spellings() {
        let of = |answer: Value| action(&answer, false);

        assert_eq!(of(json!({ "action": "block", "message": "no" })), Ok(Some(block("no"))));
        assert_eq!(of(json!({ "decision": "Block", "reason": "no" })), Ok(Some(block("no"))));
        assert!(matches!(of(json!({ "action": "deny" })), Ok(Some(Before::Block { .. }))));
        assert!(matches!(of(json!({ "action": "approve" })), Ok(Some(Before::Ask { .. }))));
        assert_eq!(
            of(json!({ "decision": "block", "action": "allow", "reason": "no" })),
            Ok(Some(block("no")))
        );
        for passed in [json!({ "decision": "approve" }), json!({ "action": "allow" }), json!({})] {
            assert_eq!(of(passed.clone()), Ok(None), "{passed}");
        }
        for unknown in [json!({ "note": 1 }), json!({ "acton": "block" }), json!({ "action": null })] {
            assert!(of(unknown.clone()).is_err(), "{unknown}");
        }
        assert!(of(json!({ "action": "dance" })).is_err() && of(json!({ "action": "rewrite" })).is_err());
        assert_eq!((of(json!("block")), of(Value::Null)), (Ok(None), Ok(None)));
        assert!(action(&json!("block"), true).is_err());
    }

    #[test]
    fn whoever_has_a_say_denies_when_a_callback_of_it_cannot_answer_or_is_not_understood() {
        let said = |answers: &[Value], errors: &[&str]| Said {
            answers: answers.to_vec(),
            errors: errors.iter().map(|it| (*it).to_owned()).collect(),
        };
        let (pass, note) = (json!({ "action": "allow" }), json!({ "note": "seen" }));
        let ask = json!({ "action": "approve" });
        let stop = json!({ "action": "block", "message": "no" });

        assert!(verdict(&said(std::slice::from_ref(&pass), &["down"]), true).is_err());
        assert!(verdict(&said(&[ask.clone(), json!({ "action": "dance" })], &[]), true).is_err());
        assert_eq!(verdict(&said(&[ask.clone(), stop], &["down"]), true), Ok(block("no")));
        assert_eq!(verdict(&said(&[pass], &[]), true), Ok(Before::Continue));
        assert!(verdict(&said(&[ask.clone(), note], &[]), true).is_err());
        assert!(matches!(verdict(&said(&[ask], &["down"]), false), Ok(Before::Ask { .. })));
        assert!(verdict(&said(&[json!({ "action": "dance" })], &[]), false).is_err(), "it is noted");
    }

    #[test]
    fn a_question_of_one_callback_and_the_arguments_of_another_both_count() {
        let said = |answers: [Value; 2]| Said { answers: answers.to_vec(), errors: Vec::new() };
        let rewrite = |command: &str| json!({ "action": "rewrite", "args": { "command": command } });
        let ask = json!({ "action": "approve", "message": "sure?" });
        let both = Before::Ask {
            message: "sure?".to_owned(),
            arguments: json!({ "command": "ls" }).as_object().cloned(),
        };

        for answers in [[rewrite("ls"), ask.clone()], [ask, rewrite("ls")]] {
            assert_eq!(verdict(&said(answers), true), Ok(both.clone()));
        }
        assert!(matches!(verdict(&said([rewrite("ls"), rewrite("ls")]), true), Ok(Before::Rewrite(_))));
        assert!(verdict(&said([rewrite("ls"), rewrite("pwd")]), true).is_err());
        assert!(matches!(verdict(&said([rewrite("ls"), rewrite("pwd")]), false), Ok(Before::Rewrite(_))));
    }

    #[test]
    fn contexts_of_one_plugin_are_told_together() {
        let answers = [json!("one"), Value::Null, json!({ "context": "two" })];

        let told = Some(Reaction::Context("one\n\ntwo".to_owned()));
        assert_eq!(reaction(EventKind::PreLlmCall, &answers, true), Ok(told));
        let first = Some(Reaction::Answer("one".to_owned()));
        assert_eq!(reaction(EventKind::TransformLlmOutput, &answers[..2], true), Ok(first));
    }

    #[test]
    fn what_is_not_understood_beside_a_call_counts_against_whoever_has_a_say() {
        let (result, verify) = (EventKind::TransformToolResult, EventKind::PreVerify);
        let unknown = json!({ "rsult": "x" });

        assert!(text(result, &[json!("x"), unknown.clone()], true).is_err());
        assert_eq!(text(result, &[unknown.clone(), json!("x")], false), Ok(Some("x".to_owned())));
        assert!(text(result, std::slice::from_ref(&unknown), false).is_err(), "it is noted");
        assert!(
            reaction(verify, &[unknown], true).is_err() && reaction(verify, &[json!("block")], true).is_err()
        );
        assert_eq!(reaction(verify, &[json!("done"), json!(true)], false), Ok(None));
        assert!(matches!(
            reaction(verify, &[json!({ "action": "block" })], true),
            Ok(Some(Reaction::GoOn(_)))
        ));
    }
}
