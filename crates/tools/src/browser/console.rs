//! What pages wrote to their console, and the errors that their scripts did not catch.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::browser::told::text;

/// Most that is remembered of each kind.
const MAX_KEPT: usize = 500;

/// Longest text of one of them, in characters.
const MAX_TEXT: usize = 2_000;

/// The newest of both kinds, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Console {
    messages: VecDeque<Value>,
    errors: VecDeque<Value>,
    total: (u64, u64),
}

impl Console {
    /// Takes an event in.
    pub(crate) fn take(&mut self, method: &str, params: &Value) {
        match method {
            "Runtime.consoleAPICalled" => {
                let words = params.get("args").and_then(Value::as_array).into_iter().flatten().map(shown);
                let words: Vec<String> = words.collect();
                self.message(text(params, "type"), &words.join(" "), "console", place(params));
            }
            "Log.entryAdded" => {
                let entry = params.get("entry").unwrap_or(&Value::Null);
                let place = text(entry, "url");
                self.message(text(entry, "level"), text(entry, "text"), text(entry, "source"), place);
            }
            "Runtime.exceptionThrown" => {
                let details = params.get("exceptionDetails").unwrap_or(&Value::Null);
                let thrown = details.pointer("/exception/description").and_then(Value::as_str);
                let words = thrown.unwrap_or_else(|| text(details, "text"));
                let line = details.get("lineNumber").and_then(Value::as_u64).map(|line| line + 1);
                let error = json!({ "message": cut(words), "url": text(details, "url"), "line": line });
                keep(&mut self.errors, error);
                self.total.1 += 1;
            }
            _ => {}
        }
    }

    fn message(&mut self, kind: &str, words: &str, source: &str, url: &str) {
        let message = json!({ "type": kind, "text": cut(words), "source": source, "url": url });
        keep(&mut self.messages, message);
        self.total.0 += 1;
    }

    /// As the model reads it.
    pub(crate) fn shown(&self) -> Value {
        json!({
            "success": true,
            "console_messages": self.messages,
            "js_errors": self.errors,
            "total_messages": self.total.0,
            "total_errors": self.total.1,
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn keep(list: &mut VecDeque<Value>, one: Value) {
    if list.len() >= MAX_KEPT {
        list.pop_front();
    }
    list.push_back(one);
}

/// A value of a script in words.
pub(crate) fn shown(value: &Value) -> String {
    match value.get("value") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => {
            let described = value.get("description").or_else(|| value.get("unserializableValue"));
            let described = described.and_then(Value::as_str);
            described.unwrap_or_else(|| text(value, "type")).to_owned()
        }
    }
}

fn place(params: &Value) -> &str {
    params.pointer("/stackTrace/callFrames/0/url").and_then(Value::as_str).unwrap_or_default()
}

fn cut(words: &str) -> String {
    words.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_errors_are_kept_apart_and_the_newest_stay() {
        let mut console = Console::default();
        for n in 0..=MAX_KEPT {
            let args = json!([{ "type": "string", "value": "n" }, { "type": "number", "value": n }]);
            console.take("Runtime.consoleAPICalled", &json!({ "type": "log", "args": args }));
        }
        let thrown = json!({ "text": "Uncaught", "url": "u", "lineNumber": 4, "exception": { "description": "E: x" } });
        console.take("Runtime.exceptionThrown", &json!({ "exceptionDetails": thrown }));

        let shown = console.shown();
        assert_eq!(shown["console_messages"][0]["text"], "n 1");
        assert_eq!((&shown["total_messages"], &shown["total_errors"]), (&json!(MAX_KEPT + 1), &json!(1)));
        assert_eq!(shown["js_errors"], json!([{ "message": "E: x", "url": "u", "line": 5 }]));
        console.clear();
        assert_eq!(console.shown()["total_messages"], 0);
    }
}
