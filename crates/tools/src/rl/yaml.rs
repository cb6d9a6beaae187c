//! A configuration as YAML, so that every reader takes each value for what it is. Pure.

use std::fmt::Write as _;

use serde_json::Value;

/// The document.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

/// A map or a list, each entry on lines of its own.
fn block(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                margin(depth, text);
                text.push_str(&key(name));
                text.push(':');
                after(value, depth, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                margin(depth, text);
                text.push('-');
                after(item, depth, text);
            }
        }
        other => {
            margin(depth, text);
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

/// What stands behind a key or a dash: a value on the same line, or a block below.
fn after(value: &Value, depth: usize, text: &mut String) {
    let is_block = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_block {
        text.push('\n');
        block(value, depth + 1, text);
    } else {
        text.push(' ');
        text.push_str(&scalar(value));
        text.push('\n');
    }
}

fn margin(depth: usize, text: &mut String) {
    text.push_str(&"  ".repeat(depth));
}

/// A name is written as it is where nobody can take it for something else.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_word = matches!(
        name.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    if !is_word && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        // Readers of YAML 1.1 want a point in what is a fraction, and know no `4e-5`.
        Value::Number(number) if number.is_f64() => {
            let plain = number.as_f64().map(|number| number.to_string()).unwrap_or_default();
            if plain.contains('.') { plain } else { format!("{plain}.0") }
        }
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        other => other.to_string(),
    }
}

/// A text in double quotes, which both JSON and YAML read in the same way but for a few signs that end lines.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        let ends_line = matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
        if ends_line {
            // Writing into a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_stand_as_every_reader_takes_them() {
        let value = json!({
            "env": { "rate": 0.00004, "one": 1.0, "steps": 2500, "on": true, "none": null, "text": "a: \"b\"\n\u{2028}" },
            "openai": [{ "model": "Qwen/Qwen3-8B", "stop": ["x", "1"] }, []],
            "empty": {},
        });

        let text = document(&value);

        assert_eq!(
            text,
            "env:\n  rate: 0.00004\n  one: 1.0\n  steps: 2500\n  \"on\": true\n  none: null\n  text: \"a: \\\"b\\\"\\n\\u2028\"\n\
             openai:\n  -\n    model: \"Qwen/Qwen3-8B\"\n    stop:\n      - \"x\"\n      - \"1\"\n  - []\nempty: {}\n"
        );
    }
}
