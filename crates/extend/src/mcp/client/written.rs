//! Values of `config.yaml` as people write them: a number may be a text, a truth a word, a list one item,
//! and a text may name variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

/// A map in the map; an empty one where there is none.
pub(super) fn section(map: &Map<String, Value>, key: &str) -> Map<String, Value> {
    map.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// A text, or a number as text.
pub(super) fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A yes or no; the usual one where neither is said.
pub(super) fn flag(map: &Map<String, Value>, key: &str, usual: bool) -> bool {
    match map.get(key) {
        Some(Value::Bool(truth)) => *truth,
        Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => true,
            "false" | "no" | "off" | "0" => false,
            _ => usual,
        },
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        _ => usual,
    }
}

/// A time in seconds.
pub(super) fn seconds(map: &Map<String, Value>, key: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text(map, key)?.parse().ok()?).ok()
}

/// A text, or what is one without quotes.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// A list of texts; one alone is a list of one.
pub(super) fn words(map: &Map<String, Value>, key: &str) -> Vec<String> {
    match map.get(key) {
        Some(Value::Array(items)) => items.iter().filter_map(word).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A list of names where one is written, an empty one where nothing stands behind its name; what is wrong, when
/// something else is.
pub(super) fn names(map: &Map<String, Value>, key: &str) -> Result<Option<Vec<String>>, &'static str> {
    let read = match map.get(key) {
        None => return Ok(None),
        Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(word).collect(),
        Some(value) => word(value).map(|name| vec![name]),
    };
    read.map(Some).ok_or("is not a list of names")
}

/// Texts by name.
pub(super) fn pairs(map: &Map<String, Value>, key: &str) -> BTreeMap<String, String> {
    section(map, key).into_iter().filter_map(|(key, value)| Some((key, word(&value)?))).collect()
}

/// Whether any text of a value may name a variable.
pub fn names_any(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(names_any),
        Value::Object(map) => map.values().any(names_any),
        _ => false,
    }
}

/// The value with every `${VAR}` and `${env:VAR}` in its texts replaced; what is not set stays.
pub fn expanded(value: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(expand(text, variable)),
        Value::Array(items) => items.iter().map(|item| expanded(item, variable)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), expanded(value, variable))).collect()
        }
        other => other.clone(),
    }
}

/// Variables that a server is given by name and that are not set. What a shell is told is its own affair.
pub(super) fn unset(map: &Map<String, Value>, variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let command = text(map, "command").unwrap_or_default();
    let program = Path::new(&command).file_name().unwrap_or_default();
    let shell = ["sh", "bash", "dash", "zsh", "fish", "ksh"].iter().any(|shell| program == *shell);
    let keys = ["url", "headers", "env", "oauth", "command", "args"];
    let mut missing = BTreeSet::new();
    for key in keys.into_iter().filter(|key| !(shell && *key == "args")) {
        if let Some(value) = map.get(key) {
            named(value, &mut |name| {
                if variable(name).is_none() {
                    missing.insert(name.to_owned());
                }
            });
        }
    }
    missing.into_iter().collect()
}

/// The names of all variables in a value's texts.
fn named(value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            for part in text.split("${").skip(1) {
                let name = part.split_once('}').map(|(name, _)| name.strip_prefix("env:").unwrap_or(name));
                let is_name = |name: &&str| {
                    !name.is_empty()
                        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                };
                if let Some(name) = name.filter(is_name) {
                    found(name);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, found)),
        Value::Object(map) => map.values().for_each(|value| named(value, found)),
        _ => {}
    }
}

fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let found = after.split_once('}').and_then(|(name, behind)| {
            let name = name.strip_prefix("env:").unwrap_or(name);
            Some((variable(name)?, behind))
        });
        if let Some((value, behind)) = found {
            out.push_str(&value);
            rest = behind;
        } else {
            out.push_str("${");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}
