//! The end of a call as MCP wants it: text for the model, the same as structure, pictures beside it. Pure.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hermes_core::outcome::{Attachment, Outcome};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents};
use serde_json::{Value, json};

/// The result of a call.
pub(super) fn result(outcome: &Outcome) -> CallToolResult {
    let body: Option<Value> = serde_json::from_str(&outcome.body).ok();
    let mut content = Vec::new();
    // Where the answer is a picture and nothing else, there is nothing to say about it.
    if outcome.attachments.is_empty() || outcome.body != "{}" {
        content.push(ContentBlock::text(text(body.as_ref(), &outcome.body)));
    }
    content.extend(outcome.attachments.iter().map(block));
    let mut result = if outcome.status.is_ok() {
        CallToolResult::success(content)
    } else {
        CallToolResult::error(content)
    };
    result.structured_content = body.filter(|body| body.as_object().is_some_and(|fields| !fields.is_empty()));
    result.meta = Some(meta(outcome));
    result
}

/// A result that is one text is that text; everything else is JSON, as models get it.
fn text(body: Option<&Value>, written: &str) -> String {
    let fields = body.and_then(Value::as_object);
    match fields.and_then(|fields| fields.get("result").filter(|_| fields.len() == 1)) {
        Some(Value::String(text)) => text.clone(),
        _ => written.to_owned(),
    }
}

fn block(attachment: &Attachment) -> ContentBlock {
    let kind = attachment.media_type.as_str();
    let encoded = || BASE64.encode(&attachment.bytes);
    if kind.starts_with("image/") {
        return ContentBlock::image(encoded(), kind);
    }
    if kind.starts_with("audio/") {
        return ContentBlock::audio(encoded(), kind);
    }
    let uri = uri(&attachment.name);
    let contents = match std::str::from_utf8(&attachment.bytes) {
        Ok(text) if kind.starts_with("text/") || kind == "application/json" => {
            ResourceContents::text(text, uri)
        }
        _ => ResourceContents::blob(encoded(), uri),
    };
    ContentBlock::resource(contents.with_mime_type(kind))
}

/// A name that is no address yet becomes one.
fn uri(name: &str) -> String {
    if name.contains("://") { name.to_owned() } else { format!("hermes://attachment/{name}") }
}

/// What became of the call, for clients that look: one word, and the id under which it is recorded.
fn meta(outcome: &Outcome) -> MetaObject {
    let status = ("hermes/status".to_owned(), json!(outcome.status.word()));
    let call = ("hermes/call".to_owned(), json!(outcome.id.as_str()));
    MetaObject([status, call].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes_core::call::CallId;
    use hermes_core::outcome::Status;

    use super::*;

    fn outcome(status: Status, body: &str) -> Outcome {
        Outcome {
            id: CallId::from("s.1"),
            given_id: String::new(),
            tool: "say".into(),
            status,
            body: body.to_owned(),
            spilled: None,
            attachments: Vec::new(),
            notes: Vec::new(),
            took: Duration::ZERO,
        }
    }

    fn written(outcome: &Outcome) -> Value {
        serde_json::to_value(result(outcome)).unwrap()
    }

    #[test]
    fn a_document_is_text_and_structure() {
        let result = written(&outcome(Status::Ok, r#"{"total":2}"#));

        assert_eq!(result["content"], json!([{ "type": "text", "text": r#"{"total":2}"# }]));
        assert_eq!(result["structuredContent"], json!({ "total": 2 }));
        assert_eq!(result["isError"], false);
        assert_eq!(result["_meta"], json!({ "hermes/status": "ok", "hermes/call": "s.1" }));
    }

    #[test]
    fn a_result_that_is_one_text_is_that_text() {
        let result = written(&outcome(Status::Ok, r#"{"result":"hello"}"#));

        assert_eq!(result["content"][0]["text"], "hello");
        assert_eq!(result["structuredContent"], json!({ "result": "hello" }));
    }

    #[test]
    fn a_list_has_no_structure_of_its_own() {
        let result = written(&outcome(Status::Ok, "[1,2]"));

        assert_eq!(result["content"][0]["text"], "[1,2]");
        assert_eq!(result.get("structuredContent"), None);
    }

    #[test]
    fn a_call_that_was_denied_is_an_error_the_model_can_read() {
        let result = written(&outcome(Status::Denied, r#"{"error":"denied by rule: no"}"#));

        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], r#"{"error":"denied by rule: no"}"#);
        assert_eq!(result["_meta"]["hermes/status"], "denied");
    }

    #[test]
    fn pictures_sounds_and_files_come_beside_the_text() {
        let attach = |media_type: &str, name: &str| Attachment {
            media_type: media_type.to_owned(),
            name: name.to_owned(),
            bytes: Vec::from(*b"abc").into(),
        };
        let mut outcome = outcome(Status::Ok, "{}");
        outcome.attachments = vec![
            attach("image/png", "a.png"),
            attach("audio/wav", "a.wav"),
            attach("text/plain", "test://note"),
            attach("application/zip", "a.zip"),
        ];

        let content = written(&outcome)["content"].clone();

        assert_eq!(content[0], json!({ "type": "image", "data": "YWJj", "mimeType": "image/png" }));
        assert_eq!(content[1], json!({ "type": "audio", "data": "YWJj", "mimeType": "audio/wav" }));
        let note = json!({ "uri": "test://note", "mimeType": "text/plain", "text": "abc" });
        assert_eq!(content[2], json!({ "type": "resource", "resource": note }));
        assert_eq!(content[3]["resource"]["uri"], "hermes://attachment/a.zip");
        assert_eq!(content[3]["resource"]["blob"], "YWJj");
    }
}
