//! What a program's answer means. Pure.
//!
//! Both spellings of the original are understood: `{"action": …, "message": …}` and
//! `{"decision": …, "reason": …}`. No answer at all means: go on.

use hermes_core::hook::{Before, EventKind, Reaction};
use serde_json::{Map, Value};

/// Longest message that is passed on.
const MAX_MESSAGE: usize = 2_000;

/// The answer as an object; nothing when there was no answer.
fn object(said: &str) -> Result<Option<Map<String, Value>>, String> {
    let said = said.trim();
    if said.is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(said) {
        Ok(Value::Object(fields)) => Ok(Some(fields)),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err("its answer is not a JSON object".to_owned()),
        Err(wrong) => Err(format!("its answer is not JSON: {wrong}")),
    }
}

fn word<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| fields.get(*key)?.as_str()).map(str::trim).filter(|text| !text.is_empty())
}

fn message(fields: &Map<String, Value>, otherwise: &str) -> String {
    let said = word(fields, &["message", "reason", "permissionDecisionReason"]);
    said.unwrap_or(otherwise).chars().take(MAX_MESSAGE).collect()
}

/// What it decides, as a word; an error when what stands in its place is none.
fn decision(fields: &Map<String, Value>) -> Result<Option<String>, String> {
    let keys = ["action", "decision", "permissionDecision"];
    match keys.iter().find_map(|key| Some((key, fields.get(*key).filter(|value| !value.is_null())?))) {
        None => Ok(None),
        Some((_, Value::String(word))) => Ok(Some(word.trim().to_lowercase())),
        Some((key, _)) => Err(format!("`{key}` in its answer is not a word")),
    }
}

/// What is to become of a call.
pub(super) fn before(said: &str) -> Result<Before, String> {
    let Some(fields) = object(said)? else { return Ok(Before::Continue) };
    let arguments = ["args", "tool_input", "arguments"].iter().find_map(|key| fields.get(*key));
    match decision(&fields)?.as_deref() {
        Some("block" | "deny") => {
            Ok(Before::Block { message: message(&fields, "a hook has blocked this call") })
        }
        Some("ask") => {
            Ok(Before::Ask { message: message(&fields, "a hook wants somebody to look at this call") })
        }
        // By `action`, the original hands the call to a person; as a decision, the word is a yes.
        Some("approve") if fields.contains_key("action") => {
            Ok(Before::Ask { message: message(&fields, "a hook wants somebody to approve this call") })
        }
        Some("rewrite" | "modify") | None if arguments.is_some() => match arguments {
            Some(Value::Object(arguments)) => Ok(Before::Rewrite(arguments.clone())),
            _ => Err("the arguments in its answer are not an object".to_owned()),
        },
        Some("allow" | "approve" | "continue" | "pass") | None => Ok(Before::Continue),
        Some(other) => Err(format!("`{other}` is not an answer that is known")),
    }
}

/// What the model is to read instead of a result; nothing leaves it.
pub(super) fn result(said: &str) -> Result<Option<Value>, String> {
    if let Ok(Value::String(text)) = serde_json::from_str(said.trim()) {
        return Ok(Some(Value::String(text)));
    }
    let Some(mut fields) = object(said)? else { return Ok(None) };
    Ok(["result", "output", "content"].iter().find_map(|key| fields.remove(*key)))
}

/// What the output of a command is to be instead; nothing leaves it.
pub(super) fn output(said: &str) -> Result<Option<String>, String> {
    match result(said)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err("the output in its answer is not a text".to_owned()),
    }
}

/// What comes of an answer to something that happened beside calls; nothing when nothing does.
pub(super) fn reaction(kind: EventKind, said: &str) -> Result<Option<Reaction>, String> {
    let answer = match serde_json::from_str(said.trim()) {
        Ok(Value::String(text)) => Value::String(text),
        _ => object(said)?.map(Value::Object).unwrap_or_default(),
    };
    if let Value::Object(fields) = &answer {
        if kind == EventKind::PreVerify {
            decision(fields)?;
        }
        let texts: &[&str] = match kind {
            EventKind::PreLlmCall => &["context", "additionalContext"],
            EventKind::TransformLlmOutput => &["response_text", "output", "text"],
            _ => &[],
        };
        let odd = |key: &&&str| fields.get(**key).is_some_and(|value| !value.is_string() && !value.is_null());
        if let Some(key) = texts.iter().find(odd) {
            return Err(format!("`{key}` in its answer is not a text"));
        }
    }
    Ok(Reaction::of(kind, &answer).map(|reaction| match reaction {
        Reaction::Context(text) => Reaction::Context(text.trim().to_owned()),
        Reaction::GoOn(text) => Reaction::GoOn(text.chars().take(MAX_MESSAGE).collect()),
        answer @ Reaction::Answer(_) => answer,
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn block(message: &str) -> Before {
        Before::Block { message: message.to_owned() }
    }

    #[test]
    fn both_spellings_of_a_block_are_understood() {
        assert_eq!(before(r#"{"action": "block", "message": "no"}"#), Ok(block("no")));
        assert_eq!(before(r#"{"decision": "block", "reason": "no"}"#), Ok(block("no")));
        assert_eq!(before(r#"{"decision": "deny"}"#), Ok(block("a hook has blocked this call")));
    }

    #[test]
    fn a_call_can_be_passed_rewritten_or_handed_to_a_person() {
        for pass in ["", "  \n", "{}", "null", r#"{"decision": "approve"}"#, r#"{"action": "allow"}"#] {
            assert_eq!(before(pass), Ok(Before::Continue), "{pass}");
        }
        let args = json!({ "command": "ls" });
        let rewrite = Before::Rewrite(args.as_object().unwrap().clone());
        assert_eq!(before(r#"{"action": "rewrite", "args": {"command": "ls"}}"#), Ok(rewrite.clone()));
        assert_eq!(before(r#"{"tool_input": {"command": "ls"}}"#), Ok(rewrite));
        assert_eq!(
            before(r#"{"action": "approve", "message": "sure?"}"#),
            Ok(Before::Ask { message: "sure?".to_owned() })
        );
    }

    #[test]
    fn garbage_is_told_as_such() {
        for garbage in [
            "oops",
            "[1]",
            "{",
            r#"{"action": "explode"}"#,
            r#"{"action": "rewrite", "args": 3}"#,
            r#"{"action": 5}"#,
            r#"{"decision": ["block"]}"#,
            r#"{"action": " "}"#,
        ] {
            assert!(before(garbage).is_err(), "{garbage}");
        }
        assert!(reaction(EventKind::PreVerify, r#"{"action": 5}"#).is_err());
        assert!(reaction(EventKind::PreLlmCall, r#"{"context": 5}"#).is_err());
        assert!(reaction(EventKind::TransformLlmOutput, r#"{"output": {}}"#).is_err());
    }

    #[test]
    fn results_outputs_and_contexts_are_found() {
        assert_eq!(result(r#"{"result": {"a": 1}}"#), Ok(Some(json!({ "a": 1 }))));
        assert_eq!(result(r#""""#), Ok(Some(json!(""))));
        assert_eq!(result("{}"), Ok(None));
        assert_eq!(output(r#"{"output": "x"}"#), Ok(Some("x".to_owned())));
        assert!(output(r#"{"output": 1}"#).is_err());
        let context = |said: &str| match reaction(EventKind::PreLlmCall, said) {
            Ok(Some(Reaction::Context(text))) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(context(r#"{"context": " it rains "}"#), "it rains");
        assert_eq!(reaction(EventKind::PreLlmCall, ""), Ok(None));
        assert!(reaction(EventKind::PreVerify, "oops").is_err());
    }

    proptest! {
        #[test]
        fn any_answer_is_read_without_breaking(said in "\\PC{0,200}") {
            let _ = (before(&said), result(&said), output(&said), reaction(EventKind::PreVerify, &said));
        }
    }
}
