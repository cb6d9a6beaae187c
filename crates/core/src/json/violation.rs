//! What is wrong with an argument, in words a model can act on.

use std::fmt;

use serde_json::{Map, Value};

use super::schema::{View, types};

/// The longest piece of an argument or of a schema that a message repeats.
const SHOWN: usize = 60;

/// How many choices of an enum a message lists.
const CHOICES: usize = 30;

/// An argument that does not follow the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where it is, such as `todos[2].status`; empty for the arguments as a whole.
    pub path: String,
    /// What was expected and what came.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for Violation {}

/// The way to a value, kept on the stack so that nothing is allocated until it is needed.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// The violation at this place.
    pub(super) fn violation(&self, message: impl Into<String>) -> Violation {
        Violation { path: self.to_string(), message: message.into() }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(outer, key) => write!(f, "{outer}.{key}"),
            Self::Index(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// What came, shortened.
pub(super) fn shown(view: View<'_>) -> String {
    match view {
        View::Null => "null".to_owned(),
        View::Bool(truth) => format!("boolean {truth}"),
        View::Number(number) => format!("number {number}"),
        View::String(text) => format!("string {}", quoted(text)),
        View::Array(items) => format!("array of {}", counted(items.len(), "item")),
        View::Object(members) => format!("object with {}", counted(members.len(), "key")),
    }
}

/// What a schema node asks for, in a few words.
pub(super) fn wanted(schema: &Value) -> String {
    let Value::Object(schema) = schema else { return "another value".to_owned() };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", listed(choices));
    }
    if let Some(value) = schema.get("const") {
        return short(value);
    }
    let names = joined(types(schema));
    if names.is_empty() { "another value".to_owned() } else { names }
}

/// Names, with `or` between them.
pub(super) fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(" or ")
}

/// The choices of an enum.
pub(super) fn listed(choices: &[Value]) -> String {
    let mut text = choices.iter().take(CHOICES).map(short).collect::<Vec<_>>().join(", ");
    if choices.len() > CHOICES {
        text.push_str(", …");
    }
    text
}

/// The name among `known` that was most likely meant.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    known
        .map(|candidate| (strsim::jaro_winkler(&folded, &fold(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The message for a key the schema does not know.
pub(super) fn unknown_key(key: &str, known: &Map<String, Value>, given: &Map<String, Value>) -> String {
    let free = known.keys().map(String::as_str).filter(|name| !given.contains_key(*name));
    if let Some(meant) = nearest(key, free) {
        return format!("unknown key, did you mean {}?", quoted(meant));
    }
    if known.is_empty() {
        return "unknown key, none are allowed here".to_owned();
    }
    let names: Vec<_> = known.keys().take(CHOICES).map(String::as_str).collect();
    format!("unknown key, the known ones are {}", names.join(", "))
}

/// A number of things.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => shown(View::of(value)),
        scalar => scalar.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut head: String = text.chars().take(SHOWN).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    format!("{head:?}")
}
