//! What providers of the web answer, read: each calls the same things by other names.

use std::fmt::Write as _;

use hermes_core::error::ToolError;
use serde_json::Value;

use super::provider::{Extracted, Hit};

/// Text at a path of fields; empty when it is not there.
pub(crate) fn text(value: &Value, path: &[&str]) -> String {
    let found = path.iter().try_fold(value, |value, field| value.get(field));
    found.and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

/// The list at a path of fields.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    let found = path.iter().try_fold(value, |value, field| value.get(field));
    found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Hits from a list of objects with these fields; what has no address is left out.
pub(crate) fn hits(rows: &[Value], title: &str, url: &str, description: &str) -> Vec<Hit> {
    let hit = |row: &Value| Hit {
        title: text(row, &[title]),
        url: text(row, &[url]),
        description: text(row, &[description]),
    };
    rows.iter().map(hit).filter(|hit| !hit.url.is_empty()).collect()
}

/// The same where what was found is a list of passages.
pub(crate) fn hits_by_passage(rows: &[Value], passages: &str) -> Vec<Hit> {
    let hit = |row: &Value| {
        let found: Vec<&str> = list(row, &[passages]).iter().filter_map(Value::as_str).collect();
        Hit { title: text(row, &["title"]), url: text(row, &["url"]), description: found.join(" … ") }
    };
    rows.iter().map(hit).filter(|hit| !hit.url.is_empty()).collect()
}

/// The one page that was asked for: the first of `results`, with its text in this field. Else what the
/// first of the failures says, by the name of their list and of the field with the reason.
pub(crate) fn page(answer: &Value, content: &str, failures: (&str, &str)) -> Result<Extracted, ToolError> {
    if let Some(page) = list(answer, &["results"]).first() {
        let field = |name: &str| text(page, &[name]);
        return Ok(Extracted { url: field("url"), title: field("title"), text: field(content) });
    }
    let why = list(answer, &[failures.0]).first().map(|failure| text(failure, &[failures.1]));
    Err(unreadable(why.unwrap_or_default()))
}

/// Says that a page could not be read, and why if that is known.
pub(crate) fn unreadable(why: String) -> ToolError {
    ToolError::Failed(if why.is_empty() { "the page could not be read".to_owned() } else { why })
}

/// A text as part of a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            // Writing into a string cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_result_is_the_page_and_a_failure_says_why() {
        let good = json!({ "results": [{ "url": "https://a.example", "title": "A", "raw": " words " }] });
        let bad = json!({ "results": [], "failed": [{ "error": "no such page" }] });

        let page = |answer: &Value| page(answer, "raw", ("failed", "error"));

        assert_eq!(page(&good).unwrap().text, "words");
        assert_eq!(page(&bad).unwrap_err().to_string(), "no such page");
        assert_eq!(page(&json!({})).unwrap_err().to_string(), "the page could not be read");
    }

    #[test]
    fn passages_are_joined_and_what_has_no_address_is_left_out() {
        let rows = [
            json!({ "title": "A", "url": "https://a.example", "highlights": ["one", "two"] }),
            json!({ "title": "B", "highlights": [] }),
        ];

        let hits = hits_by_passage(&rows, "highlights");

        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].description, "one … two");
        assert_eq!(encoded("a b&ü"), "a%20b%26%C3%BC");
    }
}
