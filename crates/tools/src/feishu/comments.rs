//! Comments on files: in short, and as they are written.

use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::api::{Ask, picked, set};

/// Longest comment, in characters.
const LONGEST: usize = 10_000;

/// Most rows of a page.
const PAGE: u32 = 100;

/// Kinds of files that have comments.
const KINDS: [&str; 6] = ["doc", "docx", "sheet", "file", "slides", "bitable"];

/// The kind of file that is meant where none is named.
pub(crate) fn docx() -> String {
    "docx".to_owned()
}

/// How long a page is where nothing is said about it.
pub(crate) fn page_size() -> u32 {
    PAGE
}

/// Asks about comments on a file of this kind.
pub(crate) fn of_kind(ask: Ask, kind: &str) -> Result<Ask, ToolError> {
    let kind = kind.trim();
    if KINDS.contains(&kind) {
        return Ok(ask.query("file_type", Some(kind)).query("user_id_type", Some("open_id")));
    }
    Err(ToolError::Arguments(format!("file_type is one of {}", KINDS.join(", "))))
}

/// Asks for one page of a list.
pub(crate) fn paged(ask: Ask, size: u32, token: Option<&str>) -> Ask {
    let token = token.map(str::trim).filter(|token| !token.is_empty());
    ask.query("page_size", Some(size.clamp(1, PAGE))).query("page_token", token)
}

/// Text as the content of a reply.
pub(crate) fn content(text: &str) -> Result<Value, ToolError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST {
        return Err(ToolError::Arguments(format!("content has to have 1 to {LONGEST} characters")));
    }
    Ok(json!({ "elements": [{ "type": "text_run", "text_run": { "text": text } }] }))
}

/// A comment with its replies.
pub(crate) fn comment(comment: &Value) -> Value {
    let mut short =
        picked(comment, &["comment_id", "user_id", "create_time", "is_solved", "is_whole", "quote"]);
    let replies = comment.pointer("/reply_list/replies").and_then(Value::as_array).into_iter().flatten();
    let replies: Vec<Value> = replies.map(reply).collect();
    short.insert("replies".to_owned(), json!(replies));
    Value::Object(short)
}

/// A reply; the first one is what the comment itself says.
pub(crate) fn reply(reply: &Value) -> Value {
    let mut short = picked(reply, &["reply_id", "user_id", "create_time"]);
    let elements = reply.pointer("/content/elements").and_then(Value::as_array).into_iter().flatten();
    let text: String = elements.filter_map(words).collect();
    short.insert("text".to_owned(), json!(text));
    Value::Object(short)
}

fn words(element: &Value) -> Option<String> {
    let plain = element.pointer("/text_run/text").or_else(|| element.pointer("/docs_link/url"));
    let person = || Some(format!("@{}", element.pointer("/person/user_id")?.as_str()?));
    plain.and_then(Value::as_str).map(str::to_owned).or_else(person)
}

/// A page of them, and how to get the next.
pub(crate) fn page(data: &Value, name: &str, each: fn(&Value) -> Value) -> Value {
    let items: Vec<Value> =
        data.get("items").and_then(Value::as_array).into_iter().flatten().map(each).collect();
    let mut page = json!({ "success": true, "count": items.len(), name: items });
    if data.get("has_more") == Some(&json!(true)) {
        set(&mut page, "has_more", json!(true));
        set(&mut page, "page_token", data.get("page_token").cloned().unwrap_or_default());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_who_said_what_about_which_words() {
        let data = json!({ "has_more": true, "page_token": "p2", "items": [{
            "comment_id": "1", "user_id": "ou_a", "create_time": 1_700_000_000, "update_time": 0, "is_solved": false,
            "is_whole": false, "quote": "the words",
            "reply_list": { "replies": [{
                "reply_id": "2", "user_id": "ou_a", "create_time": 1_700_000_000,
                "content": { "elements": [
                    { "type": "text_run", "text_run": { "text": "see " } },
                    { "type": "person", "person": { "user_id": "ou_b" } },
                ]},
            }]},
        }]});

        assert_eq!(
            page(&data, "comments", comment),
            json!({ "success": true, "count": 1, "has_more": true, "page_token": "p2", "comments": [{
                "comment_id": "1", "user_id": "ou_a", "create_time": 1_700_000_000, "is_solved": false, "is_whole": false,
                "quote": "the words",
                "replies": [{ "reply_id": "2", "user_id": "ou_a", "create_time": 1_700_000_000, "text": "see @ou_b" }],
            }]})
        );
    }

    #[test]
    fn an_empty_comment_is_not_written() {
        assert!(content("  ").is_err() && content(&"x".repeat(10_001)).is_err());
        assert!(of_kind(Ask::get(&[]), "movie").is_err());
    }
}
