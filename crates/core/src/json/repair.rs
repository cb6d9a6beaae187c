//! Reads the arguments of a call, and mends them when they are nearly JSON.
//!
//! Text that is valid JSON is taken as it is. Otherwise only mistakes with one plain reading are
//! mended: commas too many or missing, unclosed strings and brackets, other quotes, bare keys,
//! Python's literals, comments, fences and prose around the object, raw line breaks and stray
//! backslashes in strings, objects wrapped in strings. Everything that would need a guess is an
//! error that says where. Keys are never made up: a member whose value is missing is left out
//! (at the end of the text) or refused (anywhere else).
//!
//! An integer that fits neither `i64` nor `u64` is kept as text, digit by digit, because a float
//! would round it; this counts as mended.

use serde_json::{Map, Value};

use super::lenient::{Fault, Reader};
use super::number;

/// The longest text that is looked at.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How often an object may be wrapped in a JSON string.
const MAX_WRAPS: u32 = 3;

/// Arguments as an object, and what it took to get there.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The arguments, in the order they came in.
    pub value: Map<String, Value>,
    /// The text was not JSON as it stood.
    pub mended: bool,
    /// The text ended too early, so the last value may be a part and others may be missing.
    /// Implies `mended`.
    pub truncated: bool,
}

/// Why text could not be read as arguments, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (line {line}, column {column})")]
pub struct RepairError {
    /// What is wrong.
    pub problem: Problem,
    /// Line of the trouble, counted from 1.
    pub line: usize,
    /// Character in that line, counted from 1.
    pub column: usize,
}

/// What is wrong with a text that should hold arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is something else.
    #[error("arguments must be a JSON object, this is {0}")]
    NotAnObject(&'static str),
    /// Something else stands where a certain thing must be.
    #[error("expected {wanted}, found {found}")]
    Unexpected {
        /// What could have stood there.
        wanted: &'static str,
        /// What stands there, shortened.
        found: String,
    },
    /// JSON has no such number.
    #[error("{0} is not a JSON number")]
    NotANumber(String),
    /// A backslash before a character that needs none, in a string with other escapes.
    #[error("invalid escape \\{0} in a string; write \\\\ for a backslash")]
    Escape(char),
    /// Half of a surrogate pair stands for no character.
    #[error("a lone surrogate in a \\u escape stands for no character")]
    Surrogate,
    /// Which of several objects is meant cannot be known.
    #[error("more follows after the object")]
    MoreFollows,
    /// Nested deeper than any honest call.
    #[error("nested deeper than 128 levels")]
    TooDeep,
    /// Longer than any honest call.
    #[error("arguments are longer than 16 MiB")]
    TooLong,
}

/// Reads the text of a call's arguments. Blank text is an empty object.
///
/// # Errors
/// When the text is not an object, or would need a guess to become one.
pub fn parse_arguments(raw: &str) -> Result<Parsed, RepairError> {
    if raw.len() > MAX_BYTES {
        return Err(RepairError { problem: Problem::TooLong, line: 1, column: 1 });
    }
    unwrapped(raw, 0)
}

/// Reads an array or object out of text that a model sent in place of one. None when it is
/// anything else, or not whole.
pub(super) fn container(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.len() > MAX_BYTES || !text.starts_with(['{', '[']) {
        return None;
    }
    if let Some(value) = plain(text) {
        return Some(value);
    }
    let mut reader = Reader::new(text);
    let value = reader.value().ok()??;
    (!reader.truncated && reader.rest().trim().is_empty()).then_some(value)
}

/// Reads JSON that must not lose anything: an integer that no number here can hold is its digits as a text.
pub fn exact(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    if lost_digits(&value) { container(text).or(Some(value)) } else { Some(value) }
}

fn unwrapped(text: &str, wraps: u32) -> Result<Parsed, RepairError> {
    if text.trim().is_empty() {
        return Ok(Parsed { value: Map::new(), mended: wraps > 0, truncated: false });
    }
    match plain(text) {
        Some(Value::Object(value)) => Ok(Parsed { value, mended: wraps > 0, truncated: false }),
        Some(Value::String(inner)) if wraps < MAX_WRAPS && holds_object(&inner) => {
            unwrapped(&inner, wraps + 1)
        }
        Some(other) => Err(located(text, Fault { problem: not_an_object(&other), at: 0 })),
        None => mended(text, wraps),
    }
}

/// A plain parse; None when it fails or an integer literal may have lost digits.
fn plain(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|value| !lost_digits(value))
}

fn lost_digits(value: &Value) -> bool {
    match value {
        Value::Number(number) => number::may_have_lost_digits(number),
        Value::Array(items) => items.iter().any(lost_digits),
        Value::Object(members) => members.values().any(lost_digits),
        _ => false,
    }
}

fn mended(text: &str, wraps: u32) -> Result<Parsed, RepairError> {
    let mut reader = Reader::new(text);
    let fail = |fault| located(text, fault);
    reader.seek_object().map_err(fail)?;
    let start = reader.at();
    let value = match reader.value().map_err(fail)? {
        Some(Value::Object(value)) => value,
        Some(Value::String(inner)) if wraps < MAX_WRAPS && holds_object(&inner) => {
            let whole = !reader.truncated;
            let parsed = unwrapped(&inner, wraps + 1)?;
            return Ok(Parsed { mended: true, truncated: parsed.truncated || !whole, ..parsed });
        }
        Some(other) => return Err(fail(Fault { problem: not_an_object(&other), at: start })),
        None => return Err(fail(Fault { problem: Problem::NotAnObject("cut-off text"), at: start })),
    };
    if let Some(more) = reader.rest().find('{') {
        return Err(fail(Fault { problem: Problem::MoreFollows, at: reader.at() + more }));
    }
    let mended = wraps > 0 || reader.mended || reader.truncated || !reader.rest().trim().is_empty();
    Ok(Parsed { value, mended, truncated: reader.truncated })
}

/// Whether a string can be an object wrapped up: it starts like one, or like a wrapped one.
fn holds_object(inner: &str) -> bool {
    let inner = inner.trim_start();
    inner.is_empty() || inner.starts_with(['{', '"']) || inner.starts_with("```")
}

fn not_an_object(value: &Value) -> Problem {
    Problem::NotAnObject(match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    })
}

fn located(text: &str, fault: Fault) -> RepairError {
    let before = text.get(..fault.at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    RepairError { problem: fault.problem, line, column }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
