//! The small fields of a result that stay visible when the rest is spilled.
//!
//! An exit code, a status, an error: what says how it went must not be hidden in a file.

use serde_json::{Map, Value};

/// Longest text of a field that is kept.
const MAX_FIELD: usize = 200;
/// Longest name of a field that is kept.
const MAX_NAME: usize = 64;
/// Most fields kept.
const MAX_FIELDS: usize = 24;
/// Most characters kept in all.
const MAX_TOTAL: usize = 2000;
/// The field that is kept in any case, cut if need be: without it a failure would look like a success.
const ERROR: &str = "error";

/// What is kept of a result.
pub(super) struct Kept {
    /// The fields, in their order.
    pub(super) fields: Map<String, Value>,
    /// Whether every field but the one that is shown elsewhere is here in full.
    pub(super) whole: bool,
}

/// The small fields of an object. `shown` is the field whose text is shown as the page.
pub(super) fn kept(result: &Value, shown: Option<&str>) -> Kept {
    let mut kept = Kept { fields: Map::new(), whole: true };
    let Value::Object(fields) = result else {
        return Kept { whole: false, ..kept };
    };
    let mut left = MAX_TOTAL;
    for (name, value) in fields {
        let is_shown = shown == Some(name.as_str());
        match size(value) {
            Some(size)
                if size <= MAX_FIELD
                    && size <= left
                    && name.len() <= MAX_NAME
                    && kept.fields.len() < MAX_FIELDS =>
            {
                left -= size;
                kept.fields.insert(name.clone(), value.clone());
            }
            _ => {
                kept.whole &= is_shown;
                if let (ERROR, Value::String(text)) = (name.as_str(), value) {
                    kept.fields.insert(name.clone(), cut(text).into());
                }
            }
        }
    }
    kept
}

/// The size of a value that has no parts.
fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(8),
        Value::String(text) if text.len() <= MAX_FIELD * 4 => Some(text.chars().count()),
        Value::Array(items) if items.is_empty() => Some(2),
        Value::Object(fields) if fields.is_empty() => Some(2),
        _ => None,
    }
}

fn cut(text: &str) -> String {
    let end = text.char_indices().nth(MAX_FIELD - 3).map_or(text.len(), |(at, _)| at);
    format!("{}...", text.get(..end).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_and_empty_lists_are_kept_and_large_parts_are_not() {
        let result =
            json!({ "output": "x".repeat(900), "exit_code": 1, "error": null, "files": [], "list": [1] });

        let kept = kept(&result, Some("output"));

        assert_eq!(Value::Object(kept.fields), json!({ "exit_code": 1, "error": null, "files": [] }));
        assert!(!kept.whole);
    }

    #[test]
    fn a_long_error_is_cut_but_never_hidden() {
        let result = json!({ "error": "é".repeat(900) });

        let kept = kept(&result, Some("error"));

        assert_eq!(kept.fields["error"], format!("{}...", "é".repeat(197)));
        assert!(kept.whole);
    }

    #[test]
    fn many_small_fields_are_bounded() {
        let fields: Map<String, Value> =
            (0..500).map(|n| (format!("f{n}"), json!("y".repeat(150)))).collect();

        let kept = kept(&Value::Object(fields), None);

        assert_eq!(kept.fields.len(), 13);
        assert!(!kept.whole);
    }
}
