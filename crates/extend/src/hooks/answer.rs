//! What a program's answer means. Pure.
//!
//! Both spellings of the original are understood: `{"action": …, "message": …}` and
//! `{"decision": …, "reason": …}` (`decision.rs`). No answer at all means: go on.

use hermes_core::hook::{Before, EventKind, Reaction};
use serde_json::{Map, Value};

use super::decision::{self, MAX_MESSAGE, understood};

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

/// What is to become of a call.
pub(super) fn before(said: &str) -> Result<Before, String> {
    let Some(fields) = object(said)? else { return Ok(Before::Continue) };
    let (blocked, asked) = ("a hook has blocked this call", "a hook wants somebody to look at this call");
    Ok(decision::before(&fields, blocked, asked)?.unwrap_or(Before::Continue))
}

/// What the model is to read instead of a result; nothing leaves it.
pub(super) fn result(said: &str) -> Result<Option<Value>, String> {
    if let Ok(Value::String(text)) = serde_json::from_str(said.trim()) {
        return Ok(Some(Value::String(text)));
    }
    let Some(mut fields) = object(said)? else { return Ok(None) };
    match ["result", "output", "content"].iter().find_map(|key| fields.remove(*key)) {
        Some(new) => Ok(Some(new)),
        None => understood(EventKind::TransformToolResult, &fields).map(|()| None),
    }
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
    match &answer {
        Value::Object(fields) => understood(kind, fields)?,
        Value::String(_) if kind == EventKind::PreVerify => {
            return Err("its answer is not a JSON object".to_owned());
        }
        _ => {}
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
    fn a_block_in_any_place_counts_whatever_else_is_said() {
        assert_eq!(before(r#"{"decision": "block", "action": "allow", "reason": "no"}"#), Ok(block("no")));
        assert_eq!(before(r#"{"action": 5, "decision": "deny", "reason": "no"}"#), Ok(block("no")));
        let nested =
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
        assert_eq!(before(nested), Ok(block("no")));
        for said in [r#"{"action": "block", "message": "no"}"#, r#"{"decision": "Block", "reason": "no"}"#] {
            assert_eq!(reaction(EventKind::PreVerify, said), Ok(Some(Reaction::GoOn("no".to_owned()))));
        }
    }

    #[test]
    fn an_answer_that_wants_nothing_passes_everywhere() {
        for pass in ["", "{}", r#"{"decision": "approve"}"#, r#"{"action": "allow"}"#] {
            assert_eq!((before(pass), result(pass)), (Ok(Before::Continue), Ok(None)), "{pass}");
            for kind in [EventKind::PreLlmCall, EventKind::TransformLlmOutput, EventKind::PreVerify] {
                assert_eq!(reaction(kind, pass), Ok(None), "{pass}");
            }
        }
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
            Ok(Before::Ask { message: "sure?".to_owned(), arguments: None })
        );
    }

    #[test]
    fn other_arguments_count_beside_a_yes_and_beside_a_question() {
        let safe = json!({ "command": "ls" }).as_object().unwrap().clone();
        for yes in [
            r#"{"action": "allow", "tool_input": {"command": "ls"}}"#,
            r#"{"decision": "approve", "args": {"command": "ls"}}"#,
            r#"{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}}"#,
        ] {
            assert_eq!(before(yes), Ok(Before::Rewrite(safe.clone())), "{yes}");
        }
        let ask = r#"{"permissionDecision": "ask", "reason": "sure?", "updatedInput": {"command": "ls"}}"#;
        let asked = Before::Ask { message: "sure?".to_owned(), arguments: Some(safe) };
        assert_eq!(before(ask), Ok(asked));
        assert_eq!(before(r#"{"action": "block", "args": {}, "message": "no"}"#), Ok(block("no")));
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
            r#"{"acton": "block"}"#,
            r#"{"block": true}"#,
            r#"{"error": "down"}"#,
            r#"{"continue": false}"#,
            r#"{"action": null}"#,
            r#"{"message": "no"}"#,
            r#"{"action": "allow", "decision": "dance"}"#,
            r#"{"action": "allow", "args": "ls"}"#,
            r#"{"action": "allow", "block": true}"#,
            r#"{"continue": false, "decision": "approve"}"#,
            r#"{"action": "allow", "hookSpecificOutput": "deny"}"#,
        ] {
            assert!(before(garbage).is_err(), "{garbage}");
        }
        for garbage in [r#"{"rsult": 1}"#, r#"{"action": "block"}"#, r#"{"output": 1}"#] {
            assert!(output(garbage).is_err(), "{garbage}");
        }
        assert!(reaction(EventKind::PreLlmCall, r#"{"action": "block"}"#).is_err());
        assert!(reaction(EventKind::TransformLlmOutput, r#"{"ouput": "x"}"#).is_err());
        for garbage in [r#"{"verdict": "no"}"#, r#""block""#] {
            assert!(reaction(EventKind::PreVerify, garbage).is_err(), "{garbage}");
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
