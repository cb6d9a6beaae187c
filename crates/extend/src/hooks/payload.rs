//! What a program is told on its standard input: one JSON document with the fields of the original.

use hermes_core::hook::{CallEnd, CallView, EventKind, HookEvent};
use hermes_core::outcome::Status;
use serde_json::{Map, Value, json};

/// The version of the facts.
const VERSION: &str = "hermes.observer.v1";

/// A document; facts without a place of their own are in `extra`.
fn document(
    kind: EventKind,
    tool: Option<(&str, &Map<String, Value>)>,
    session: &str,
    cwd: &str,
    mut extra: Map<String, Value>,
) -> Value {
    extra.insert("telemetry_schema_version".to_owned(), json!(VERSION));
    json!({
        "hook_event_name": kind.name(),
        "tool_name": tool.map(|(name, _)| name),
        "tool_input": tool.map(|(_, input)| input),
        "session_id": session,
        "cwd": cwd,
        "extra": extra,
    })
}

/// A call that is about to be judged, or is over.
pub(super) fn of_call(kind: EventKind, call: &CallView, end: Option<&CallEnd>, cwd: &str) -> Value {
    let mut extra = Map::new();
    let mut add = |key: &str, value: Value| {
        extra.insert(key.to_owned(), value);
    };
    add("tool_call_id", json!(call.told_id()));
    add("call_id", json!(call.id.as_str()));
    add("task_id", json!(call.session.as_ref()));
    add("turn_id", json!(call.turn_id()));
    add("api_request_id", json!(call.request_id()));
    if let Some(within) = &call.within {
        add("within", json!(within.as_str()));
    }
    if let Some(end) = end {
        let (status, error) = status(end.status);
        let message = end.result.get("error").and_then(Value::as_str);
        add("result", json!(as_text(&end.result)));
        add("duration_ms", json!(u64::try_from(end.took.as_millis()).unwrap_or(u64::MAX)));
        add("status", json!(status));
        add("error_type", json!(error));
        add("error_message", json!(error.and(message)));
    }
    document(kind, Some((&call.tool, &call.arguments)), &call.session, cwd, extra)
}

/// What a command printed.
pub(super) fn of_output(call: &CallView, end: &CallEnd, cwd: &str) -> Value {
    let extra: [(&str, Value); 5] = [
        ("command", call.arguments.get("command").cloned().unwrap_or_default()),
        ("output", end.result.get("output").cloned().unwrap_or_default()),
        ("returncode", end.result.get("exit_code").cloned().unwrap_or_default()),
        ("task_id", json!(call.session.as_ref())),
        ("env_type", json!(end.env_type.as_deref())),
    ];
    let extra = extra.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let kind = EventKind::TransformTerminalOutput;
    document(kind, Some((&call.tool, &call.arguments)), &call.session, cwd, extra)
}

/// Something beside calls.
pub(super) fn of_event(event: &HookEvent, cwd: &str) -> Value {
    document(event.kind, None, &event.session, cwd, event.facts.clone())
}

/// A document as a program would get it, for trying one out.
pub fn sample(kind: EventKind, tool: Option<&str>, cwd: &str) -> Value {
    let input = match json!({ "command": "echo hello" }) {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    let is_call = matches!(
        kind,
        EventKind::PreToolCall
            | EventKind::PostToolCall
            | EventKind::TransformToolResult
            | EventKind::TransformTerminalOutput
    );
    let tool = tool.or(is_call.then_some("terminal")).map(|name| (name, &input));
    let mut extra = Map::new();
    let facts = match kind {
        EventKind::PostToolCall | EventKind::TransformToolResult => {
            json!({ "result": "{\"output\":\"hello\"}", "status": "ok", "duration_ms": 12 })
        }
        EventKind::TransformTerminalOutput => {
            json!({ "command": "echo hello", "output": "hello", "returncode": 0, "env_type": "local" })
        }
        EventKind::PreLlmCall => json!({ "user_message": "hello", "is_first_turn": true }),
        EventKind::TransformLlmOutput => json!({ "response_text": "Done." }),
        EventKind::PreVerify => {
            json!({ "coding": true, "attempt": 0, "final_response": "Done.", "changed_paths": ["a.rs"] })
        }
        EventKind::KanbanTaskClaimed => json!({ "task_id": "t1", "board": "default" }),
        EventKind::KanbanTaskCompleted => json!({ "task_id": "t1", "board": "default", "summary": "Done." }),
        EventKind::KanbanTaskBlocked => json!({ "task_id": "t1", "board": "default", "reason": "No key." }),
        _ => json!({}),
    };
    if let Value::Object(facts) = facts {
        extra.extend(facts);
    }
    document(kind, tool, "test-session", cwd, extra)
}

/// What became of a call, in the original's words.
fn status(status: Status) -> (&'static str, Option<&'static str>) {
    match status {
        Status::Ok => ("ok", None),
        Status::Denied => ("blocked", Some("plugin_block")),
        Status::Repeated => ("blocked", Some("guardrail_block")),
        Status::Unknown => ("blocked", Some("tool_scope_block")),
        Status::Cancelled => ("cancelled", Some("keyboard_interrupt")),
        Status::TimedOut => ("timeout", Some("tool_timeout")),
        _ => ("error", Some("tool_error")),
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
