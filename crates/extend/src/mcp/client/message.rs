//! A message of a server that could not be read, read a second time. Pure.
//!
//! What most servers say is read once and comes by here never. What is left are halves of letters, bytes that are
//! no letters, values that are nested without end, several messages at once, and answers that make no sense: whoever
//! waits for one of those is told so, instead of waiting until the time is over.

use std::borrow::Cow;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::letters;
use crate::mcp::skim::Skim;

/// Levels of a value that are read; a reader of JSON gives up not much later.
const MAX_DEPTH: usize = 100;

/// In place of what is below. A schema with it in the place of another schema is none, so its tool is left out.
const TOO_DEEP: &[u8] = b"\"[nested too deeply to be read]\"";

/// Most letters of a server's own words that are repeated where they are not what they should be.
const MAX_WORDS: usize = 300;

/// The messages in a text that is not one as it stands; none when nobody waits for any of it.
pub(super) fn again(text: &[u8]) -> Vec<ServerJsonRpcMessage> {
    let text = bare(text);
    match batch(text) {
        Some(parts) => parts.iter().filter_map(|part| one(part.get().as_bytes())).collect(),
        None => one(text).into_iter().collect(),
    }
}

/// The parts of a text that holds several messages at once.
pub(super) fn batch(text: &[u8]) -> Option<Vec<&RawValue>> {
    if text.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    serde_json::from_slice(text).ok()
}

/// Without the mark of an encoding that some programs begin with.
pub(super) fn bare(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn one(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    if let Ok(message) = serde_json::from_slice(&mended(text)) {
        return Some(message);
    }
    let mut skim = Skim::default();
    skim.feed(text);
    let id = skim.id().filter(|_| skim.is_answer())?;
    Some(ServerJsonRpcMessage::error(wrong(text), Some(id)))
}

/// The text with everything made readable that can be.
pub(super) fn mended(text: &[u8]) -> Cow<'_, [u8]> {
    let text = match String::from_utf8_lossy(text) {
        Cow::Borrowed(_) => letters::mended(text),
        Cow::Owned(whole) => Cow::Owned(letters::mended(whole.as_bytes()).into_owned()),
    };
    match flat(&text) {
        Some(flat) => Cow::Owned(flat),
        None => text,
    }
}

/// The same for the text of an event, which is nearly always fine: what it costs to see that is next to nothing.
pub(super) fn mended_event(text: String) -> String {
    let brackets = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if brackets <= MAX_DEPTH && !text.contains("\\u") {
        return text;
    }
    match mended(text.as_bytes()) {
        Cow::Borrowed(_) => text,
        Cow::Owned(whole) => String::from_utf8_lossy(&whole).into_owned(),
    }
}

/// The text without what is nested too deeply, if anything is.
fn flat(text: &[u8]) -> Option<Vec<u8>> {
    let (mut kept, mut done, mut depth) = (Vec::new(), 0, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                if depth == MAX_DEPTH {
                    kept.extend_from_slice(text.get(done..at).unwrap_or_default());
                    kept.extend_from_slice(TOO_DEEP);
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == MAX_DEPTH {
                    done = at + 1;
                }
            }
            _ => {}
        }
    }
    if kept.is_empty() {
        return None;
    }
    kept.extend_from_slice(text.get(done..).unwrap_or_default());
    Some(kept)
}

/// What is told to whoever waits for an answer that cannot be read.
pub(super) fn wrong(text: &[u8]) -> ErrorData {
    match serde_json::from_slice::<Value>(&mended(text)) {
        Ok(answer) => match answer.get("error").filter(|error| !error.is_null()) {
            Some(error) => refusal(error),
            None => ErrorData::internal_error("its answer cannot be read: it is no answer of JSON-RPC", None),
        },
        Err(wrong) => {
            ErrorData::internal_error(format!("its answer cannot be read: it is no JSON ({wrong})"), None)
        }
    }
}

/// What a server says about why not, however it says that.
pub(super) fn refusal(error: &Value) -> ErrorData {
    let said = match error.get("message").unwrap_or(error) {
        Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    ErrorData::internal_error(said.chars().take(MAX_WORDS).collect::<String>(), None)
}

/// The result of a tool with something in it that this program does not know: the rest is taken, with a word
/// about that. Nothing where it is no result of a tool at all.
pub(super) fn result(value: &Value) -> Option<CallToolResult> {
    let blocks = value.get("content")?.as_array()?;
    let block = |block: &Value| serde_json::from_value(block.clone()).unwrap_or_else(|_| unknown(block));
    let mut result = CallToolResult::success(blocks.iter().map(block).collect());
    result.structured_content = value.get("structuredContent").cloned();
    result.is_error = value.get("isError").and_then(Value::as_bool);
    Some(result)
}

fn unknown(block: &Value) -> ContentBlock {
    let kind: String =
        block.get("type").and_then(Value::as_str).unwrap_or("unknown").chars().take(40).collect();
    ContentBlock::text(format!("[a block of type `{kind}` that this program cannot show]"))
}

/// Whether this answers the request with this id. Some servers give numbers back as text.
pub(super) fn is_same(one: &RequestId, other: &RequestId) -> bool {
    one.to_string() == other.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::{JsonRpcMessage, ServerResult};
    use serde_json::json;

    use super::*;

    fn deep(levels: usize) -> String {
        format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    /// The error that is told for a text, with its id.
    fn told(text: &str) -> (String, String) {
        match again(text.as_bytes()).pop() {
            Some(JsonRpcMessage::Error(error)) => {
                (error.id.unwrap().to_string(), error.error.message.to_string())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn half_a_letter_costs_that_letter() {
        let text = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"t","description":"cut \ud83c","inputSchema":{"type":"object"}}]}}"#;

        let read = again(text.as_bytes());

        let [JsonRpcMessage::Response(answer)] = read.as_slice() else { panic!("{read:?}") };
        let ServerResult::ListToolsResult(list) = &answer.result else { panic!("{answer:?}") };
        assert_eq!(list.tools[0].description.as_deref(), Some("cut \u{fffd}"));
    }

    #[test]
    fn what_is_nested_too_deeply_is_cut_there() {
        let text = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"x":{},"y":2}}}}"#, deep(500));

        let read: Value = serde_json::from_slice(&mended(text.as_bytes())).unwrap();

        assert_eq!(read["result"]["y"], 2);
        assert!(read.to_string().contains("nested too deeply"));
        assert_eq!(again(text.as_bytes()).len(), 1);
        assert!(flat(deep(MAX_DEPTH).as_bytes()).is_none());
        assert!(flat(deep(MAX_DEPTH + 1).as_bytes()).is_some());
    }

    #[test]
    fn several_messages_at_once_are_each_read() {
        let text = "\u{feff}[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"},\
                    {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}, 7]";

        assert_eq!(again(text.as_bytes()).len(), 2);
        assert!(again(b"[1, 2]").is_empty() && again(b"[").is_empty());
    }

    #[test]
    fn whoever_waits_for_an_answer_that_cannot_be_read_is_told_why() {
        let (id, why) = told(r#"{"jsonrpc":"2.0","id":4,"result":{,}}"#);
        assert_eq!(id, "4");
        assert!(why.starts_with("its answer cannot be read: it is no JSON"), "{why}");

        assert_eq!(told(r#"{"id":5,"error":"out of order"}"#), ("5".to_owned(), "out of order".to_owned()));
        assert_eq!(
            told(r#"{"jsonrpc":"1.0","id":6,"result":{}}"#).1,
            "its answer cannot be read: it is no answer of JSON-RPC"
        );
    }

    #[test]
    fn what_nobody_waits_for_is_passed_over() {
        for noise in
            ["starting up", "{\"level\":\"info\",\"id\":3}", r#"{"id":3,"method":"x",}"#, "", "\"id\": 3"]
        {
            assert!(again(noise.as_bytes()).is_empty(), "{noise}");
        }
    }

    #[test]
    fn a_block_that_is_not_known_costs_itself_only() {
        let value = json!({ "content": [
            { "type": "text", "text": "hi" }, { "type": "video", "data": "" }, { "type": "text" },
        ], "isError": true });

        let read = result(&value).unwrap();

        let texts: Vec<&str> =
            read.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "hi",
                "[a block of type `video` that this program cannot show]",
                "[a block of type `text` that this program cannot show]"
            ]
        );
        assert_eq!((read.is_error, read.structured_content), (Some(true), None));
        assert!(result(&json!({ "content": "hi" })).is_none() && result(&json!({})).is_none());
    }

    proptest! {
        #[test]
        fn anything_can_be_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (again(&bytes), wrong(&bytes));
        }

        #[test]
        fn what_is_fine_stays_as_it_is(text in "\\PC{0,60}") {
            let written = serde_json::to_string(&text).unwrap();

            prop_assert!(matches!(mended(written.as_bytes()), Cow::Borrowed(_)));
            prop_assert_eq!(mended_event(written.clone()), written);
        }
    }
}
