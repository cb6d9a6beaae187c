//! The answers that nearly all are: short, of text and nothing else.
//!
//! The SDK looks at a block of content twice, because it may be of any kind. What is plainly text needs one
//! look; everything else is left to the SDK.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Longer ones are not tried: a look in vain would cost more than it can save.
const MAX_BYTES: usize = 4096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(rename = "jsonrpc")]
    _version: IgnoredAny,
    #[serde(rename = "id")]
    _id: IgnoredAny,
    result: Said,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    content: Vec<Block>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    #[serde(rename = "type")]
    _kind: Kind,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
}

/// What the line answers, if that is plainly text.
pub(super) fn read(line: &[u8]) -> Option<CallToolResult> {
    if line.len() > MAX_BYTES {
        return None;
    }
    let Answer { result: Said { content, is_error }, .. } = serde_json::from_slice(line).ok()?;
    let content = content.into_iter().map(|block| ContentBlock::text(block.text)).collect();
    Some(if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn line(result: &Value) -> Vec<u8> {
        json!({ "jsonrpc": "2.0", "id": 7, "result": result }).to_string().into_bytes()
    }

    #[test]
    fn only_what_is_plainly_text_is_taken() {
        let text = json!({ "type": "text", "text": "hi" });
        let marked = json!({ "type": "text", "text": "hi", "annotations": { "priority": 1 } });
        let picture = json!({ "type": "image", "data": "", "mimeType": "image/png" });

        assert!(read(&line(&json!({ "content": [text] }))).is_some());
        assert!(read(&line(&json!({ "content": [], "isError": true }))).is_some());
        for other in [
            json!({ "content": [text, picture] }),
            json!({ "content": [marked] }),
            json!({ "content": [text], "structuredContent": {} }),
            json!({ "content": [text], "resultType": "input_required" }),
            json!({ "content": [text], "_meta": {} }),
            json!({ "content": [{ "type": "text", "text": "x".repeat(MAX_BYTES) }] }),
            json!({}),
        ] {
            assert!(read(&line(&other)).is_none(), "{other}");
        }
        assert!(read(br#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#).is_none());
    }

    proptest! {
        #[test]
        fn what_is_taken_says_what_the_sdk_reads(texts in prop::collection::vec("\\PC{0,40}", 0..4), failed: bool) {
            let content: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
            let result = json!({ "content": content, "isError": failed });

            let ours = read(&line(&result)).unwrap();
            let theirs: CallToolResult = serde_json::from_value(result).unwrap();

            prop_assert_eq!(ours.content, theirs.content);
            prop_assert_eq!(ours.is_error, theirs.is_error);
            prop_assert_eq!(ours.structured_content, theirs.structured_content);
        }
    }
}
