//! From what a server answers to what the model reads.
//!
//! Text and structured content usually say the same twice; then it is sent once. Pictures and other
//! bytes go beside the document, where a model that sees gets them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::error::ToolError;
use hermes_core::outcome::Attachment;
use hermes_core::tool::Reply;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

/// The answer of a tool.
pub(crate) fn reply(result: CallToolResult) -> Result<Reply, ToolError> {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    let Parts { text, attachments } = parts(content);
    if is_error == Some(true) {
        let said = if text.is_empty() { structured_content.map(|it| it.to_string()) } else { Some(text) };
        return Err(ToolError::Failed(said.unwrap_or_else(|| "the server says that it failed".to_owned())));
    }
    Ok(attached(once(text, structured_content), attachments))
}

/// Blocks of a prompt or a resource.
pub(crate) struct Parts {
    pub(crate) text: String,
    pub(crate) attachments: Vec<Attachment>,
}

/// Text in order, and what is no text beside it.
pub(crate) fn parts(content: Vec<ContentBlock>) -> Parts {
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for block in content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image) => {
                beside(&image.data, image.mime_type, "image", &mut texts, &mut attachments)
            }
            ContentBlock::Audio(audio) => {
                beside(&audio.data, audio.mime_type, "audio", &mut texts, &mut attachments)
            }
            ContentBlock::Resource(embedded) => {
                let (text, more) = contents(embedded.resource);
                texts.push(text);
                attachments.extend(more);
            }
            ContentBlock::ResourceLink(link) => {
                let about = link.description.map(|about| format!(": {about}")).unwrap_or_default();
                texts.push(format!("[resource {} at {}{about}]", link.name, link.uri));
            }
            _ => texts.push("[something this program cannot show]".to_owned()),
        }
    }
    Parts { text: texts.join("\n"), attachments }
}

/// The text of a resource, or that it comes beside.
pub(crate) fn contents(resource: ResourceContents) -> (String, Option<Attachment>) {
    match resource {
        ResourceContents::TextResourceContents { text, .. } => (text, None),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let (mut texts, mut attachments) = (Vec::new(), Vec::new());
            let kind = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            beside(&blob, kind, &uri, &mut texts, &mut attachments);
            (texts.concat(), attachments.pop())
        }
        _ => ("[something this program cannot show]".to_owned(), None),
    }
}

/// Puts bytes beside the document and a word about them into it.
fn beside(data: &str, media_type: String, name: &str, texts: &mut Vec<String>, beside: &mut Vec<Attachment>) {
    let Ok(bytes) = STANDARD.decode(data.trim()) else {
        texts.push(format!("[{name}, {media_type}: it is not proper base64]"));
        return;
    };
    if bytes.len() as u64 > Attachment::MAX_BYTES {
        texts.push(format!("[{name}, {media_type}, {} bytes: too large to be handed on]", bytes.len()));
        return;
    }
    texts.push(format!("[{name}, {media_type}, {} bytes]", bytes.len()));
    beside.push(Attachment { media_type, name: name.to_owned(), bytes: bytes.into() });
}

/// With what comes beside it, if anything does.
pub(crate) fn attached(value: Value, attachments: Vec<Attachment>) -> Reply {
    if attachments.is_empty() { Reply::Json(value) } else { Reply::Attached(value, attachments) }
}

/// Text and structure, each only where the other does not say it already.
fn once(text: String, structured: Option<Value>) -> Value {
    let mut answer = Map::new();
    match structured {
        None => answer.insert("result".to_owned(), text.into()),
        Some(structured) if text.is_empty() || says(&text, &structured) => {
            answer.insert("result".to_owned(), structured)
        }
        Some(structured) => {
            answer.insert("result".to_owned(), text.into());
            answer.insert("structuredContent".to_owned(), structured)
        }
    };
    Value::Object(answer)
}

/// Whether the text says nothing that the structure does not: it is the same as JSON, or the only
/// member's own words.
fn says(text: &str, structured: &Value) -> bool {
    let read: Option<Value> = serde_json::from_str(text).ok();
    if read.as_ref() == Some(structured) {
        return true;
    }
    let Some(map) = structured.as_object().filter(|map| map.len() == 1) else { return false };
    let Some(only) = map.values().next() else { return false };
    match only {
        Value::String(words) => words == text,
        Value::Array(items) => {
            // A list is told line by line, each item as text or as JSON.
            let lines: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            lines.join("\n") == text || read.as_ref() == Some(only)
        }
        other => read.as_ref() == Some(other),
    }
}

/// Something went wrong at the server's end, as the model reads it.
pub(crate) fn needs_login(server: &str, why: &str) -> Reply {
    Reply::Json(json!({
        "error": format!("MCP server `{server}` wants a login: {why}. A person can run `hermes mcp login {server}`."),
        "needs_reauth": true,
        "server": server,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(value: Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    fn json_of(value: Value) -> Value {
        match reply(result(value)).unwrap() {
            Reply::Json(value) | Reply::Attached(value, _) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_said_twice_is_sent_once() {
        let structured = json!({ "a": 1, "b": [2] });
        let text = |text: &str| json!([{ "type": "text", "text": text }]);

        assert_eq!(
            json_of(json!({ "content": text("{\"b\": [2], \"a\": 1}"), "structuredContent": structured })),
            json!({ "result": structured })
        );
        assert_eq!(
            json_of(json!({ "content": text("hello"), "structuredContent": { "content": "hello" } })),
            json!({ "result": { "content": "hello" } })
        );
        assert_eq!(
            json_of(json!({ "content": text("one sentence"), "structuredContent": structured })),
            json!({ "result": "one sentence", "structuredContent": structured })
        );
        assert_eq!(json_of(json!({ "content": text("plain") })), json!({ "result": "plain" }));
    }

    #[test]
    fn a_picture_comes_beside_the_text() {
        let content = json!([{ "type": "text", "text": "look" }, { "type": "image", "data": "AAEC", "mimeType": "image/png" }]);

        let Reply::Attached(value, beside) = reply(result(json!({ "content": content }))).unwrap() else {
            panic!()
        };

        assert_eq!(value, json!({ "result": "look\n[image, image/png, 3 bytes]" }));
        assert_eq!((beside[0].media_type.as_str(), beside[0].bytes.as_ref()), ("image/png", &[0, 1, 2][..]));
    }

    #[test]
    fn a_failure_is_a_failure() {
        let failed = reply(result(
            json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true }),
        ));

        assert_eq!(failed, Err(ToolError::Failed("no such file".to_owned())));
    }
}
