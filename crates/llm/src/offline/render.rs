//! A tool's result in words.

use hermes_core::model::Message;
use serde_json::{Map, Value};

use super::words::shorten;

/// Most characters of one result.
const MAX_RESULT: usize = 8_000;

/// Most entries of a list.
const MAX_ENTRIES: usize = 50;

/// Fields whose text is the answer itself, best first.
const TEXTS: [&str; 9] =
    ["output", "content", "text", "stdout", "answer", "result", "summary", "message", "response"];

/// Fields that say nothing to a person.
const DULL: [&str; 6] = ["success", "status", "total_lines", "next_offset", "truncated", "file_size"];

/// The result of a tool, if the message is one.
pub(super) fn result(message: &Message) -> Option<String> {
    let Message::Tool { name, content, .. } = message else { return None };
    let text = match crate::lenient::parse(content) {
        Some(Value::Object(object)) => {
            match object.get("error").filter(|error| !error.is_null() && *error != "") {
                Some(error) => format!("{name} did not work: {}", plain(error)),
                None => fields(&object),
            }
        }
        Some(Value::String(text)) => text,
        Some(value) => value_text(&value),
        None => content.clone(),
    };
    let text = text.trim_end();
    Some(if text.trim().is_empty() {
        format!("{name} is done; it had nothing to say.")
    } else {
        shorten(text, MAX_RESULT)
    })
}

fn fields(object: &Map<String, Value>) -> String {
    let main = TEXTS
        .iter()
        .find_map(|key| Some((*key, object.get(*key)?.as_str().filter(|text| !text.trim().is_empty())?)));
    let mut lines = Vec::new();
    if let Some((_, text)) = main {
        lines.push(text.trim_end().to_owned());
    }
    for (key, value) in object {
        let empty = value.is_null() || *value == "" || value.as_array().is_some_and(Vec::is_empty);
        let shown = main.is_some_and(|(main, _)| main == key);
        let zero = key == "exit_code" && *value == 0;
        if empty || shown || zero || (main.is_some() && DULL.contains(&key.as_str())) {
            continue;
        }
        lines.push(match value {
            Value::Array(_) | Value::Object(_) => format!("{key}:\n{}", value_text(value)),
            other => format!("{key}: {}", plain(other)),
        });
    }
    lines.join("\n")
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let mut lines: Vec<String> =
                values.iter().take(MAX_ENTRIES).map(|value| format!("- {}", entry(value))).collect();
            if values.len() > MAX_ENTRIES {
                lines.push(format!("… and {} more", values.len() - MAX_ENTRIES));
            }
            lines.join("\n")
        }
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| format!("  {key}: {}", plain(value)))
            .collect::<Vec<_>>()
            .join("\n"),
        other => plain(other),
    }
}

/// One entry of a list on one line: a place in a file, a title with its address, or its fields.
fn entry(value: &Value) -> String {
    let Value::Object(object) = value else { return plain(value) };
    let text = |key: &str| object.get(key).map(plain).unwrap_or_default();
    let path = if text("path").is_empty() { text("file") } else { text("path") };
    if !path.is_empty() && object.contains_key("line") {
        let content = if text("content").is_empty() { text("text") } else { text("content") };
        return format!("{path}:{}: {}", text("line"), content.trim());
    }
    if !text("title").is_empty() && !text("url").is_empty() {
        return format!("{} ({})", text("title"), text("url"));
    }
    object.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect::<Vec<_>>().join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
