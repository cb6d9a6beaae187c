//! A message of the agent as the store keeps it, and back.
//!
//! What a provider wants to see again has a field of its own in the store where the original had
//! one; everything else keeps its name. A conversation that came with an import reads the same.

use hermes_core::model::{AssistantMessage, Finish, Message, ModelCall, Part};
use hermes_store::sessions::{self as kept, Content};
use serde_json::{Map, Value, json};

/// The message as it is kept.
pub(crate) fn to_store(message: &Message) -> kept::Message {
    match message {
        Message::User { content } => {
            kept::Message { role: "user".to_owned(), content: Some(of_parts(content)), ..Default::default() }
        }
        Message::Assistant(said) => of_assistant(said),
        Message::Tool { call_id, name, content, images } => kept::Message {
            role: "tool".to_owned(),
            content: Some(with_images(content, images)),
            tool_call_id: Some(call_id.clone()),
            tool_name: Some(name.clone()),
            ..Default::default()
        },
    }
}

/// The message as a model is to see it; nothing for what no model sees.
pub(crate) fn from_store(message: kept::Message) -> Option<Message> {
    match message.role.as_str() {
        "user" => {
            // What was sent in place of the text is sent again, byte for byte.
            let content = match (message.api_content, message.content) {
                (Some(sent), _) => vec![Part::Text { text: sent }],
                (None, content) => to_parts(content?),
            };
            Some(Message::User { content })
        }
        "assistant" => Some(Message::Assistant(to_assistant(message))),
        "tool" => {
            let content = message.content?;
            let images = images(&content);
            Some(Message::Tool {
                call_id: message.tool_call_id.unwrap_or_default(),
                name: message.tool_name.unwrap_or_default(),
                content: content.text(),
                images,
            })
        }
        _ => None,
    }
}

fn of_parts(parts: &[Part]) -> Content {
    if let [Part::Text { text }] = parts {
        return Content::Text(text.clone());
    }
    let part = |part: &Part| match part {
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Image { url } => image(url),
    };
    Content::Parts(parts.iter().map(part).collect())
}

fn to_parts(content: Content) -> Vec<Part> {
    match content {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts.iter().filter_map(to_part).collect(),
    }
}

fn to_part(part: &Value) -> Option<Part> {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(Part::Text { text: text.to_owned() });
    }
    image_url(part).map(|url| Part::Image { url })
}

fn image(url: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": url } })
}

fn image_url(part: &Value) -> Option<String> {
    let image = part.get("image_url")?;
    image.get("url").unwrap_or(image).as_str().map(str::to_owned)
}

fn with_images(text: &str, images: &[String]) -> Content {
    if images.is_empty() {
        return Content::Text(text.to_owned());
    }
    let text = json!({ "type": "text", "text": text });
    Content::Parts(std::iter::once(text).chain(images.iter().map(|url| image(url))).collect())
}

fn images(content: &Content) -> Vec<String> {
    match content {
        Content::Text(_) => Vec::new(),
        Content::Parts(parts) => parts.iter().filter_map(image_url).collect(),
    }
}

fn of_assistant(said: &AssistantMessage) -> kept::Message {
    let call = |call: &ModelCall| {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        json!({ "id": call.id, "type": "function", "function": function })
    };
    let mut extra = said.keep.clone();
    let mut message = kept::Message {
        role: "assistant".to_owned(),
        content: (!said.text.is_empty() || said.calls.is_empty()).then(|| Content::Text(said.text.clone())),
        tool_calls: (!said.calls.is_empty()).then(|| said.calls.iter().map(call).collect()),
        reasoning: said.reasoning.clone(),
        finish_reason: Some(finish_word(said.finish).to_owned()),
        ..Default::default()
    };
    if let Some(Value::String(text)) = extra.get("reasoning_content") {
        message.reasoning_content = Some(text.clone());
        extra.shift_remove("reasoning_content");
    }
    message.reasoning_details = extra.shift_remove("reasoning_details");
    message.codex_reasoning_items = extra.shift_remove("codex_reasoning_items");
    message.codex_message_items = extra.shift_remove("codex_message_items");
    message.extra = extra;
    message
}

fn to_assistant(message: kept::Message) -> AssistantMessage {
    let mut keep: Map<String, Value> = message.extra;
    let fields = [
        ("reasoning_content", message.reasoning_content.map(Value::String)),
        ("reasoning_details", message.reasoning_details),
        ("codex_reasoning_items", message.codex_reasoning_items),
        ("codex_message_items", message.codex_message_items),
    ];
    keep.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let calls = message.tool_calls.as_ref().and_then(Value::as_array).into_iter().flatten();
    AssistantMessage {
        text: message.content.map(|content| content.text()).unwrap_or_default(),
        reasoning: message.reasoning,
        calls: calls.map(to_call).collect(),
        finish: message.finish_reason.as_deref().map_or(Finish::Unknown, word_finish),
        keep,
    }
}

fn to_call(call: &Value) -> ModelCall {
    let text = |at: &str| call.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    ModelCall { id: text("/id"), name: text("/function/name"), arguments }
}

fn finish_word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Refused => "content_filter",
        _ => "unknown",
    }
}

fn word_finish(word: &str) -> Finish {
    match word {
        "stop" => Finish::Stop,
        "tool_calls" => Finish::Calls,
        "length" => Finish::Length,
        "content_filter" => Finish::Refused,
        _ => Finish::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(message: &Message) {
        assert_eq!(from_store(to_store(message)).as_ref(), Some(message));
    }

    #[test]
    fn every_kind_of_message_survives_being_kept() {
        let picture = "data:image/png;base64,AAAA".to_owned();
        let mut keep = Map::new();
        keep.insert("signature".to_owned(), json!("s"));
        keep.insert("reasoning_details".to_owned(), json!([{ "type": "x" }]));
        keep.insert("reasoning_content".to_owned(), json!("hm"));
        let call = |id: &str| ModelCall { id: id.into(), name: "todo".into(), arguments: "{}".into() };
        let said = AssistantMessage {
            text: String::new(),
            reasoning: Some("hm".to_owned()),
            calls: vec![call("a"), call("b")],
            finish: Finish::Calls,
            keep,
        };
        there_and_back(&Message::user("hello"));
        there_and_back(&Message::User {
            content: vec![Part::Text { text: "look".into() }, Part::Image { url: picture.clone() }],
        });
        there_and_back(&Message::Assistant(said));
        there_and_back(&Message::Assistant(AssistantMessage::default()));
        for images in [vec![], vec![picture]] {
            let content = r#"{"ok":true}"#.to_owned();
            there_and_back(&Message::Tool { call_id: "a".into(), name: "todo".into(), content, images });
        }
    }

    #[test]
    fn what_was_sent_in_place_of_a_text_is_sent_again_and_notes_are_not_shown() {
        let sent = kept::Message { api_content: Some("sent".into()), ..kept::Message::text("user", "typed") };

        assert_eq!(from_store(sent), Some(Message::user("sent")));
        assert_eq!(from_store(kept::Message::text("system", "note")), None);
    }
}
