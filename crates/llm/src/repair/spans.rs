//! What the dialects share: where a JSON value ends, and whether a value is a call.

use hermes_core::json::parse_arguments;
use hermes_core::model::ModelCall;
use serde_json::{Map, Value};

use crate::lenient;
use crate::tools_json::{Offered, OfferedTool};

/// What a dialect makes of a text that begins with its opening.
pub(super) enum Parsed {
    /// These calls, and how many bytes they took.
    Calls { calls: Vec<ModelCall>, used: usize },
    /// It may become a call, but is not whole yet.
    More,
    /// It is no call.
    No,
}

/// What a dialect is given.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    /// The text from the opening on.
    pub(super) text: &'a str,
    /// The tools that were offered.
    pub(super) offered: &'a Offered,
    /// Whether a tool that was not offered may be meant: it is no example in a fenced block.
    pub(super) trusted: bool,
    /// Nothing more comes: what only lacks its closing tag is whole.
    pub(super) ended: bool,
}

impl Span<'_> {
    /// Whether `name` may be the name of a tool to call.
    pub(super) fn accepts(&self, name: &str) -> bool {
        let name = bare_name(name);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        offers(self.offered, name)
            || (self.trusted && !name.is_empty() && name.len() <= 64 && name.chars().all(plain))
    }

    /// A call of `name`, if that may be one.
    pub(super) fn call(&self, name: &str, arguments: String) -> Option<ModelCall> {
        let name = name.trim();
        self.accepts(name).then(|| ModelCall {
            id: String::new(),
            name: bare_name(name).to_owned(),
            arguments,
        })
    }
}

/// The name without the namespaces some models put before it.
fn bare_name(name: &str) -> &str {
    let name = name.trim();
    ["functions.", "tools.", "default_api."].iter().find_map(|space| name.strip_prefix(space)).unwrap_or(name)
}

fn offers(offered: &Offered, name: &str) -> bool {
    let same = |c: char| if c == '-' { '_' } else { c.to_ascii_lowercase() };
    offered.has(name) || offered.all().any(|tool| tool.name.chars().map(same).eq(name.chars().map(same)))
}

/// Where the JSON value at the beginning of a text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Behind so many bytes.
    At(usize),
    /// Not yet.
    Later,
    /// There is none.
    Never,
}

/// Finds the end of an object or list by its brackets; strings are passed over.
pub(super) fn json_end(text: &str) -> End {
    let mut depth = Vec::new();
    let mut in_string = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(quote) = in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == quote => in_string = None,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = Some(b'"'),
            b'{' => depth.push(b'}'),
            b'[' => depth.push(b']'),
            b'}' | b']' => {
                if depth.pop() != Some(byte) {
                    return End::Never;
                }
                if depth.is_empty() {
                    return End::At(at + 1);
                }
            }
            _ if depth.is_empty() => return End::Never,
            _ => {}
        }
    }
    if text.is_empty() || !depth.is_empty() { End::Later } else { End::Never }
}

/// Reads a value that is nearly JSON.
pub(super) fn read(text: &str) -> Option<Value> {
    lenient::parse(text).or_else(|| parse_arguments(text).ok().map(|parsed| Value::Object(parsed.value)))
}

/// Keys a call written as JSON may begin with.
const KEYS: [&str; 15] = [
    "name",
    "tool",
    "tool_name",
    "function",
    "function_name",
    "type",
    "id",
    "arguments",
    "parameters",
    "args",
    "input",
    "action",
    "tool_calls",
    "tool_call",
    "recipient_name",
];

/// Whether an object or a list of objects, of which only the beginning may be known, may be a call.
pub(super) fn may_be_call(text: &str) -> bool {
    let inner = text.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let Some(inner) = inner.strip_prefix('{') else { return inner.is_empty() };
    let inner = inner.trim_start();
    let Some(key) = inner.strip_prefix(['"', '\'']) else { return inner.is_empty() };
    match key.split_once(['"', '\'']) {
        Some((key, _)) => KEYS.contains(&key),
        None => KEYS.iter().any(|known| known.starts_with(key)),
    }
}

/// The calls a value stands for, when every part of it is one.
pub(super) fn calls_of(value: &Value, span: &Span<'_>, strict: bool) -> Option<Vec<ModelCall>> {
    let values = match value {
        Value::Array(values) if !values.is_empty() => values.as_slice(),
        Value::Object(object) => match object.get("tool_calls").and_then(Value::as_array) {
            Some(values) if !values.is_empty() => values.as_slice(),
            _ => std::slice::from_ref(value),
        },
        _ => return None,
    };
    values.iter().map(|value| call_of(value.as_object()?, span, strict)).collect()
}

/// Strict: the arguments must be there, since any object may have a name.
fn call_of(object: &Map<String, Value>, span: &Span<'_>, strict: bool) -> Option<ModelCall> {
    const NAMES: [&str; 6] = ["name", "tool", "tool_name", "function_name", "recipient_name", "action"];
    const ARGUMENTS: [&str; 7] =
        ["arguments", "parameters", "args", "input", "params", "tool_input", "action_input"];
    match object.get("function").or_else(|| object.get("tool_call")) {
        Some(Value::Object(inner)) => {
            let mut call = call_of(inner, span, strict)?;
            call.id = id_of(object);
            return Some(call);
        }
        Some(Value::String(name)) if !object.contains_key("name") => {
            return finish(name, ARGUMENTS.iter().find_map(|key| object.get(*key)), object, span, strict);
        }
        _ => {}
    }
    let name = NAMES.iter().find_map(|key| object.get(*key)?.as_str())?;
    finish(name, ARGUMENTS.iter().find_map(|key| object.get(*key)), object, span, strict)
}

fn finish(
    name: &str,
    arguments: Option<&Value>,
    object: &Map<String, Value>,
    span: &Span<'_>,
    strict: bool,
) -> Option<ModelCall> {
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(value @ Value::Object(_)) => value.to_string(),
        Some(Value::Null) | None if !strict => "{}".to_owned(),
        _ => return None,
    };
    let mut call = span.call(name, arguments)?;
    call.id = id_of(object);
    Some(call)
}

fn id_of(object: &Map<String, Value>) -> String {
    object.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A parameter written as text: read as JSON where the tool wants something else than text.
pub(super) fn typed(tool: Option<&OfferedTool>, parameter: &str, text: &str) -> Value {
    let kind = tool.and_then(|tool| tool.parameter(parameter)?.get("type")?.as_str());
    let wants_text = kind.is_none_or(|kind| kind == "string");
    let known = tool.is_some_and(|tool| tool.parameter(parameter).is_some());
    let read = if wants_text && known { None } else { lenient::parse(text.trim()) };
    match read {
        // Without a schema only what cannot be meant as words is read.
        Some(value) if known || value.is_object() || value.is_array() => value,
        _ => Value::String(text.to_owned()),
    }
}

/// The text between a tag and its end.
pub(super) fn until<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(end)
}

/// The call that JSON which stops too early had begun: its name, and its arguments as far as written.
pub(super) fn cut_json(text: &str, span: &Span<'_>) -> Option<ModelCall> {
    let after_key = |keys: &[&str]| {
        keys.iter().find_map(|key| {
            let (_, rest) = text.split_once(&format!("\"{key}\""))?;
            rest.trim_start().strip_prefix(':').map(str::trim_start)
        })
    };
    let name = after_key(&["name", "tool", "tool_name"])?.strip_prefix('"')?;
    let (name, _) = name.split_once('"')?;
    let arguments = after_key(&["arguments", "parameters", "args"]).unwrap_or("{");
    span.call(name, arguments.to_owned())
}
