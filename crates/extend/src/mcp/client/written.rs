//! Values of `config.yaml` as people write them: a number may be a text, a truth a word, a list one item,
//! and a text may name variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use hermes_core::approval_words::visible;
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
    map.get(key).and_then(truth).unwrap_or(usual)
}

/// The same where it is no use to guess: what is written has to be one of them.
pub(super) fn sure(map: &Map<String, Value>, key: &str, usual: bool) -> Result<bool, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => truth(value).ok_or_else(|| format!("`{key}` is neither yes nor no: {value}")),
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        _ => None,
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

/// Why a variable of this name and value cannot be given to a program, if it cannot.
pub(super) fn unfit(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("has an entry without a name")
    } else if name.contains('=') {
        Some("has a `=` in its name")
    } else if name.contains('\0') {
        Some("has a zero byte in its name")
    } else if value.contains('\0') {
        Some("has a zero byte in its value")
    } else {
        None
    }
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

/// The value with every `${VAR}` and `${env:VAR}` in its texts replaced; what is not set stays, unless a default is
/// written with it (`${VAR:-default}`).
pub fn expanded(value: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Value {
    filled(value, &Filling { variable, defaults: true }, &mut |_| {})
}

/// The same for a server. Defaults in what a shell is told are the shell's own affair: the variable may be its own.
pub(super) fn expanded_server(written: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Value {
    let mut value = expanded(written, variable);
    let args = written.as_object().filter(|map| is_shell(map)).and_then(|map| map.get("args"));
    if let (Some(args), Some(map)) = (args, value.as_object_mut()) {
        let args = filled(args, &Filling { variable, defaults: false }, &mut |_| {});
        map.insert("args".to_owned(), args);
    }
    value
}

/// What a server is given as it is written, because no variable stands for it. What a shell is told is its own
/// affair.
pub(super) fn unset(map: &Map<String, Value>, variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let keys = [
        "url",
        "headers",
        "env",
        "oauth",
        "command",
        "args",
        "cwd",
        "ssl_verify",
        "client_cert",
        "client_key",
    ];
    let shell = is_shell(map);
    let mut missing = BTreeSet::new();
    let filling = Filling { variable, defaults: true };
    for key in keys.into_iter().filter(|key| !(shell && *key == "args")) {
        if let Some(value) = map.get(key) {
            filled(value, &filling, &mut |named| {
                missing.insert(visible(named).chars().take(80).collect());
            });
        }
    }
    missing.into_iter().collect()
}

fn is_shell(map: &Map<String, Value>) -> bool {
    let command = text(map, "command").unwrap_or_default();
    let program = Path::new(&command).file_name().unwrap_or_default();
    ["sh", "bash", "dash", "zsh", "fish", "ksh"].iter().any(|shell| program == *shell)
}

/// What stands for what is named.
struct Filling<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a default that is written with a variable counts.
    defaults: bool,
}

/// The value with its texts filled in; whatever is named and stays as it is written is told.
fn filled(value: &Value, filling: &Filling<'_>, stays: &mut dyn FnMut(&str)) -> Value {
    match value {
        Value::String(text) => Value::String(filling.text(text, stays)),
        Value::Array(items) => items.iter().map(|item| filled(item, filling, stays)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), filled(value, filling, stays))).collect()
        }
        other => other.clone(),
    }
}

impl Filling<'_> {
    fn text(&self, text: &str, stays: &mut dyn FnMut(&str)) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let found = match enclosed(after) {
                Some((named, behind)) => {
                    let named = named.strip_prefix("env:").unwrap_or(named);
                    let found = self.named(named, stays).map(|value| (value, behind));
                    if found.is_none() && !named.is_empty() {
                        stays(named);
                    }
                    found
                }
                None => None,
            };
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

    /// What stands between the braces, where something stands for it.
    fn named(&self, named: &str, stays: &mut dyn FnMut(&str)) -> Option<String> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        match named.split_once(":-").filter(|(name, _)| is_name(name)) {
            None => (self.variable)(named),
            Some(_) if !self.defaults => None,
            Some((name, default)) => {
                let set = (self.variable)(name).filter(|value| !value.is_empty());
                Some(set.unwrap_or_else(|| self.text(default, stays)))
            }
        }
    }
}

/// What stands before the brace that belongs to the one before the text, and what comes after it.
fn enclosed(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut last) = (0_usize, '\0');
    for (at, letter) in text.char_indices() {
        match letter {
            '{' if last == '$' => depth += 1,
            '}' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '}' => depth -= 1,
            _ => {}
        }
        last = letter;
    }
    None
}
