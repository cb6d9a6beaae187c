//! A conversation as a text or as data, to be kept.

use hermes::core::model::{Message, Part};
use serde_json::json;

/// The words of a message.
pub(crate) fn text_of(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { .. } => "[a picture]".to_owned(),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// As markdown, for people.
pub(crate) fn markdown(messages: &[Message]) -> String {
    let sections: Vec<String> = messages.iter().filter_map(section).collect();
    sections.join("\n\n") + "\n"
}

fn section(message: &Message) -> Option<String> {
    match message {
        Message::User { content } => Some(format!("## You\n\n{}", text_of(content))),
        Message::Assistant(said) => {
            let calls =
                said.calls.iter().map(|call| format!("- called `{}` with `{}`", call.name, call.arguments));
            let calls: Vec<String> = calls.collect();
            let parts = [said.text.trim().to_owned(), calls.join("\n")];
            let body: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (!body.is_empty()).then(|| format!("## Hermes\n\n{}", body.join("\n\n")))
        }
        Message::Tool { name, content, .. } => {
            // The fence is longer than any run of marks inside.
            let longest = content.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
            let fence = "`".repeat(longest.max(2) + 1);
            Some(format!("### {name}\n\n{fence}json\n{content}\n{fence}"))
        }
    }
}

/// As data, for programs.
pub(crate) fn json(session: &str, model: &str, messages: &[Message]) -> String {
    let all = json!({ "version": 1, "session": session, "model": model, "messages": messages });
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use hermes::core::model::{AssistantMessage, ModelCall};

    use super::*;

    #[test]
    fn a_conversation_is_written_for_people_and_for_programs() {
        let call = ModelCall { id: "1".into(), name: "todo".into(), arguments: "{}".into() };
        let messages = [
            Message::user("Hi"),
            Message::Assistant(AssistantMessage { calls: vec![call], ..AssistantMessage::default() }),
            Message::Tool { call_id: "1".into(), name: "todo".into(), content: "```".into(), images: vec![] },
            Message::Assistant(AssistantMessage { text: "Hello.".into(), ..AssistantMessage::default() }),
        ];

        assert_eq!(
            markdown(&messages),
            "## You\n\nHi\n\n## Hermes\n\n- called `todo` with `{}`\n\n### todo\n\n````json\n```\n````\n\n## Hermes\n\nHello.\n"
        );
        assert!(json("s", "m", &messages).contains("\"role\": \"user\""));
    }
}
