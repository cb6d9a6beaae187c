//! From what a server answers to what the model reads.
//!
//! Text and structured content usually say the same twice; then it is sent once. Pictures and other
//! bytes go beside the document, where a model that sees gets them, and into a file, which can be used.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::error::ToolError;
use hermes_core::outcome::Attachment;
use hermes_core::tool::Reply;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use super::media::{Keeper, media_tag};

/// In place of what a newer protocol may know.
const UNKNOWN: &str = "[something this program cannot show]";

/// The answer of a tool, with a word about it where there is one to be said.
pub(crate) fn reply(
    result: CallToolResult,
    note: Option<String>,
    keeper: &Keeper<'_>,
) -> Result<Reply, ToolError> {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    // Some servers write `null` for what is not there.
    let structured_content = structured_content.filter(|structured| !structured.is_null());
    let Parts { texts, attachments } = Parts::of(content, keeper);
    if is_error == Some(true) {
        let text = texts.join("\n");
        let said = if text.is_empty() { structured_content.map(|it| it.to_string()) } else { Some(text) };
        return Err(ToolError::Failed(said.unwrap_or_else(|| "the server says that it failed".to_owned())));
    }
    let mut answer = once(&texts, structured_content);
    if let Some(note) = note {
        answer.insert("note".to_owned(), note.into());
    }
    Ok(attached(Value::Object(answer), attachments))
}

/// Blocks of an answer, a prompt or a resource: text in order, and what is no text beside it.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) texts: Vec<String>,
    pub(crate) attachments: Vec<Attachment>,
}

impl Parts {
    /// All of them.
    pub(crate) fn of(content: Vec<ContentBlock>, keeper: &Keeper<'_>) -> Self {
        let mut parts = Self::default();
        for block in content {
            match block {
                ContentBlock::Text(text) => parts.texts.push(text.text),
                ContentBlock::Image(image) => parts.bytes(&image.data, image.mime_type, "image", keeper),
                ContentBlock::Audio(audio) => parts.bytes(&audio.data, audio.mime_type, "audio", keeper),
                ContentBlock::Resource(embedded) => parts.resource(embedded.resource, keeper),
                ContentBlock::ResourceLink(link) => {
                    let about = link.description.map(|about| format!(": {about}")).unwrap_or_default();
                    parts.texts.push(format!("[resource {} at {}{about}]", link.name, link.uri));
                }
                _ => parts.texts.push(UNKNOWN.to_owned()),
            }
        }
        parts
    }

    /// The text of a resource, or that it comes beside.
    pub(crate) fn resource(&mut self, resource: ResourceContents, keeper: &Keeper<'_>) {
        match resource {
            ResourceContents::TextResourceContents { text, .. } => self.texts.push(text),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                self.bytes(&blob, kind, &uri, keeper);
            }
            _ => self.texts.push(UNKNOWN.to_owned()),
        }
    }

    /// Keeps bytes in a file, puts them beside the document if they are not too many, and a word about them
    /// into it.
    fn bytes(&mut self, data: &str, media_type: String, name: &str, keeper: &Keeper<'_>) {
        let Ok(bytes) = STANDARD.decode(data.trim()) else {
            return self.texts.push(format!("[{name}, {media_type}: it is not proper base64]"));
        };
        let too_large = bytes.len() as u64 > Attachment::MAX_BYTES;
        let kept = keeper.keep(name, &media_type, &bytes);
        let note = if too_large && kept.is_none() { ": too large to be handed on" } else { "" };
        self.texts.push(format!("[{name}, {media_type}, {} bytes{note}]", bytes.len()));
        self.texts.extend(kept.map(|path| media_tag(&path)));
        if !too_large {
            self.attachments.push(Attachment { media_type, name: name.to_owned(), bytes: bytes.into() });
        }
    }
}

/// With what comes beside it, if anything does.
pub(crate) fn attached(value: Value, attachments: Vec<Attachment>) -> Reply {
    if attachments.is_empty() { Reply::Json(value) } else { Reply::Attached(value, attachments) }
}

/// Text and structure, each only where the other does not say it already.
fn once(texts: &[String], structured: Option<Value>) -> Map<String, Value> {
    let mut answer = Map::new();
    let text = texts.join("\n");
    match structured {
        None => answer.insert("result".to_owned(), text.into()),
        Some(structured) if text.is_empty() || say(texts, &text, &structured) => {
            answer.insert("result".to_owned(), structured)
        }
        Some(structured) => {
            answer.insert("result".to_owned(), text.into());
            answer.insert("structuredContent".to_owned(), structured)
        }
    };
    answer
}

/// Whether the texts say nothing that the structure does not: together they are the same as JSON, or the
/// only member's own words, or each is one of its items.
fn say(texts: &[String], text: &str, structured: &Value) -> bool {
    if is_said(text, structured) {
        return true;
    }
    let Some(map) = structured.as_object().filter(|map| map.len() == 1) else { return false };
    let Some(only) = map.values().next() else { return false };
    let each = |items: &[Value], texts: &mut dyn Iterator<Item = &str>| {
        items.iter().all(|item| texts.next().is_some_and(|text| is_said(text, item)))
            && texts.next().is_none()
    };
    is_said(text, only)
        || only.as_array().is_some_and(|items| {
            each(items, &mut texts.iter().map(String::as_str)) || each(items, &mut text.lines())
        })
}

/// Whether a text is a value: its own words, or the same as JSON, however that is laid out.
fn is_said(text: &str, value: &Value) -> bool {
    value.as_str().is_some_and(|words| words == text)
        || serde_json::from_str(text).is_ok_and(|read: Value| read == *value)
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
    use std::path::PathBuf;

    use super::*;

    fn result(value: Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    fn json_of(value: Value) -> Value {
        match reply(result(value), None, &Keeper::Nowhere).unwrap() {
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
        assert_eq!(
            json_of(json!({ "content": text("plain"), "structuredContent": null })),
            json!({ "result": "plain" })
        );
    }

    #[test]
    fn items_that_are_told_one_by_one_are_sent_once() {
        let blocks = |texts: &[&str]| {
            texts.iter().map(|text| json!({ "type": "text", "text": text })).collect::<Value>()
        };
        let items = json!({ "result": [{ "a": 1, "b": "x" }, { "a": 2, "b": "y" }] });
        let pretty = ["{\n  \"a\": 1,\n  \"b\": \"x\"\n}", "{\n  \"b\": \"y\",\n  \"a\": 2\n}"];

        assert_eq!(
            json_of(json!({ "content": blocks(&pretty), "structuredContent": items })),
            json!({ "result": items })
        );
        let words = json!({ "result": ["one\ntwo", "three"] });
        assert_eq!(
            json_of(json!({ "content": blocks(&["one\ntwo", "three"]), "structuredContent": words })),
            json!({ "result": words })
        );
        let more = json_of(
            json!({ "content": blocks(&[pretty[0], pretty[1], "and more"]), "structuredContent": items }),
        );
        assert_eq!(more["structuredContent"], items);
        let fewer = json_of(json!({ "content": blocks(&pretty[..1]), "structuredContent": items }));
        assert_eq!(fewer["structuredContent"], items);
    }

    #[test]
    fn a_picture_comes_beside_the_text() {
        let content = json!([{ "type": "text", "text": "look" }, { "type": "image", "data": "AAEC", "mimeType": "image/png" }]);

        let keep = |name: &str, ending: &str, bytes: &[u8]| {
            assert_eq!((name, bytes), ("image", &[0, 1, 2][..]));
            Some(PathBuf::from(format!("/cache/a b.{ending}")))
        };
        let answer = reply(result(json!({ "content": content })), None, &Keeper::To(Box::new(keep))).unwrap();
        let Reply::Attached(value, beside) = answer else { panic!() };

        assert_eq!(value, json!({ "result": "look\n[image, image/png, 3 bytes]\nMEDIA:\"/cache/a b.png\"" }));
        assert_eq!((beside[0].media_type.as_str(), beside[0].bytes.as_ref()), ("image/png", &[0, 1, 2][..]));
    }

    #[test]
    fn a_failure_is_a_failure() {
        let failed = reply(
            result(json!({ "content": [{ "type": "text", "text": "no such file" }], "isError": true })),
            None,
            &Keeper::Nowhere,
        );

        assert_eq!(failed, Err(ToolError::Failed("no such file".to_owned())));
    }
}
