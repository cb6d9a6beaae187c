//! The words by which an answer decides, in every spelling that is known: `action` and `decision` of the
//! original, and `permissionDecision`, also inside of `hookSpecificOutput`. Pure; for programs and plugins alike.
//!
//! An answer that contradicts itself means the stricter of both. One that says nothing that is known is an
//! error: whoever has a say must not be misunderstood, and of anybody else it is noted.

use hermes_core::hook::{Before, EventKind};
use serde_json::{Map, Value};

/// Where a word may stand.
const KEYS: [&str; 3] = ["action", "decision", "permissionDecision"];
/// Where the same may stand one level down.
const NESTED: &str = "hookSpecificOutput";
/// Where other arguments may stand.
const ARGUMENTS: [&str; 4] = ["args", "tool_input", "arguments", "updatedInput"];
/// Longest message that is passed on.
pub(crate) const MAX_MESSAGE: usize = 2_000;
/// Most keys of an answer that are named when it is not understood, and most of each.
const MAX_KEYS: usize = 5;
const MAX_KEY: usize = 40;

/// What an answer decides; what is stricter is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    /// Nothing against it.
    Pass,
    /// Other arguments.
    Rewrite,
    /// By `action`, the original hands the call to a person with this word; as a decision it is a yes.
    Approve,
    /// A person is to look at it.
    Ask,
    /// No.
    Block,
}

/// The strictest word of an answer, if it has any; an error when one is not understood and none is a no.
pub(crate) fn decided(fields: &Map<String, Value>) -> Result<Option<Word>, String> {
    let (mut strictest, mut wrong) = (None, None);
    for fields in places(fields) {
        for key in KEYS {
            match fields.get(key).filter(|value| !value.is_null()).map(|value| word(key, value)) {
                None => {}
                Some(Ok(word)) => strictest = strictest.max(Some(word)),
                Some(Err(unclear)) => wrong = wrong.or(Some(unclear)),
            }
        }
        wrong = wrong.or_else(|| contradiction(fields));
    }
    match wrong {
        Some(wrong) if strictest != Some(Word::Block) => Err(wrong),
        _ => Ok(strictest),
    }
}

/// What may have been meant as a no and is none of the words. It counts against whatever else is said.
fn contradiction(fields: &Map<String, Value>) -> Option<String> {
    let says = |key: &str, value: bool| fields.get(key) == Some(&Value::Bool(value));
    let nested = fields.get(NESTED).is_some_and(|nested| !nested.is_object() && !nested.is_null());
    let odd = match () {
        () if says("continue", false) => "`continue: false`",
        () if says("block", true) => "`block: true`",
        () if nested => "`hookSpecificOutput`, which is not an object",
        () => return None,
    };
    Some(format!("its answer has {odd}, and nothing that is known there"))
}

/// What is to become of a call, for which `blocked` and `asked` are said where the answer gives no reason; nothing
/// where it wants nothing. Other arguments count whatever the word beside them is, unless that is a no.
pub(crate) fn before(
    fields: &Map<String, Value>,
    blocked: &str,
    asked: &str,
) -> Result<Option<Before>, String> {
    let message = |otherwise| reason(fields).unwrap_or(otherwise).chars().take(MAX_MESSAGE).collect();
    let word = decided(fields)?;
    if word == Some(Word::Block) {
        return Ok(Some(Before::Block { message: message(blocked) }));
    }
    match (word, arguments(fields)?) {
        (Some(Word::Ask | Word::Approve), arguments) => {
            Ok(Some(Before::Ask { message: message(asked), arguments }))
        }
        (Some(Word::Rewrite), None) => Err("it wants to rewrite the arguments and gives none".to_owned()),
        (_, Some(arguments)) => Ok(Some(Before::Rewrite(arguments))),
        (Some(_), None) => Ok(None),
        (None, None) => understood(EventKind::PreToolCall, fields).map(|()| None),
    }
}

/// The arguments that a call is to have instead.
fn arguments(fields: &Map<String, Value>) -> Result<Option<Map<String, Value>>, String> {
    let given = places(fields).flat_map(|fields| ARGUMENTS.iter().filter_map(|key| fields.get(*key)));
    match given.into_iter().find(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::Object(arguments)) => Ok(Some(arguments.clone())),
        Some(_) => Err("the arguments in its answer are not an object".to_owned()),
    }
}

/// Why it decides so, in its own words.
pub(crate) fn reason(fields: &Map<String, Value>) -> Option<&str> {
    let keys = ["message", "reason", "permissionDecisionReason"];
    let said = places(fields).flat_map(|fields| keys.iter().filter_map(|key| fields.get(*key)?.as_str()));
    said.map(str::trim).find(|text| !text.is_empty())
}

/// Whether an answer means something where this happened, be it that nothing is to change.
pub(crate) fn understood(kind: EventKind, fields: &Map<String, Value>) -> Result<(), String> {
    let texts: &[&str] = match kind {
        EventKind::PreLlmCall => &["context", "additionalContext"],
        EventKind::TransformLlmOutput => &["response_text", "output", "text"],
        _ => &[],
    };
    let odd = |key: &&&str| fields.get(**key).is_some_and(|value| !value.is_string() && !value.is_null());
    if let Some(key) = texts.iter().find(odd) {
        return Err(format!("`{key}` in its answer is not a text"));
    }
    if fields.is_empty() || texts.iter().any(|key| fields.contains_key(*key)) {
        return Ok(());
    }
    match decided(fields)? {
        Some(Word::Pass | Word::Approve) => Ok(()),
        Some(Word::Block) if kind == EventKind::PreVerify => Ok(()),
        _ => {
            let keys = fields.keys().take(MAX_KEYS).map(|key| key.chars().take(MAX_KEY).collect::<String>());
            let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
            Err(format!("its answer has {}, and nothing that is known there", keys.join(", ")))
        }
    }
}

fn places(fields: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    std::iter::once(fields).chain(fields.get(NESTED).and_then(Value::as_object))
}

fn word(key: &str, value: &Value) -> Result<Word, String> {
    let Some(text) = value.as_str() else { return Err(format!("`{key}` in its answer is not a word")) };
    match text.trim().to_lowercase().as_str() {
        "block" | "deny" => Ok(Word::Block),
        "ask" => Ok(Word::Ask),
        "approve" if key == "action" => Ok(Word::Approve),
        "rewrite" | "modify" => Ok(Word::Rewrite),
        "allow" | "approve" | "continue" | "pass" => Ok(Word::Pass),
        other => Err(format!("`{other}` is not an answer that is known")),
    }
}
