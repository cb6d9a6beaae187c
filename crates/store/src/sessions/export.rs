//! Sessions as text: JSON for programs, markdown for people.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::db::Sessions;
use super::error::SessionError;
use super::message::{Content, StoredMessage};
use super::record::SessionRecord;

/// Longest result of a tool shown in markdown, in characters.
const MAX_RESULT: usize = 4000;

/// A session with all that was said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Export {
    /// The session.
    #[serde(flatten)]
    pub session: SessionRecord,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The messages, in order.
    pub messages: Vec<StoredMessage>,
}

impl Sessions {
    /// Everything about a session; with `history` also the messages that were taken back.
    pub fn export(&self, id: &str, history: bool) -> Result<Export, SessionError> {
        Ok(Export {
            session: self.session(id)?,
            system_prompt: self.system_prompt(id)?,
            messages: if history { self.history(id)? } else { self.messages(id)? },
        })
    }
}

impl Export {
    /// One line of JSON.
    pub fn jsonl(&self) -> Result<String, SessionError> {
        Ok(serde_json::to_string(self)?)
    }

    /// A document for people.
    pub fn markdown(&self) -> String {
        let session = &self.session;
        let mut text = format!("# {}\n\n", session.title.as_deref().unwrap_or(&session.id));
        let mut fact = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "- {name}: {value}");
            }
        };
        fact("session", Some(&session.id));
        fact("source", Some(&session.source));
        fact("model", session.model.as_deref());
        fact("directory", session.cwd.as_deref());
        fact("started", Some(&format!("{} UTC", session.started_at)));
        fact("ended", session.ended_at.map(|at| format!("{at} UTC")).as_deref());
        for stored in &self.messages {
            text.push_str(&section(stored));
        }
        text
    }
}

fn section(stored: &StoredMessage) -> String {
    let message = &stored.message;
    let who = match (message.role.as_str(), &message.tool_name) {
        ("user", _) => "User".to_owned(),
        ("assistant", _) => "Assistant".to_owned(),
        ("tool", Some(tool)) => format!("Tool: {tool}"),
        ("tool", None) => "Tool".to_owned(),
        (other, _) => other.to_owned(),
    };
    let mut text = format!("\n## {who}\n\n");
    let content = message.content.as_ref().map(Content::text).unwrap_or_default();
    if message.role == "tool" {
        text.push_str(&fenced(&shortened(&content), "json"));
    } else if !content.trim().is_empty() {
        text.push_str(content.trim());
        text.push('\n');
    }
    for call in message.tool_calls.as_ref().and_then(Value::as_array).into_iter().flatten() {
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or("?");
        let arguments = call.pointer("/function/arguments").cloned().unwrap_or_else(|| json!({}));
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        // Writing to a String cannot fail.
        let _ = write!(text, "\nCalls `{name}`:\n\n{}", fenced(&arguments, "json"));
    }
    text
}

/// A block that nothing inside can end: its fence is longer than any row of backticks in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_RESULT).collect();
    if short.len() < text.len() {
        // Writing to a String cannot fail.
        let _ = write!(short, "\n… {} more characters", text.chars().count() - MAX_RESULT);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::testing::{session, store};
    use crate::sessions::{Message, Moment};

    #[test]
    fn a_session_becomes_a_line_of_json_with_its_messages() {
        let (_dir, store) = store();
        session(&store, "s");
        store.append("s", &[Message::text("user", "hi\nthere")]).unwrap();

        let line = store.export("s", false).unwrap().jsonl().unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();

        assert!(!line.contains('\n'));
        assert_eq!(value["id"], "s");
        assert_eq!(value["messages"][0]["content"], "hi\nthere");
        assert_eq!(value["messages"][0]["role"], "user");
    }

    #[test]
    fn markdown_shows_who_said_what() {
        let (_dir, store) = store();
        session(&store, "s");
        let calls = json!([{ "id": "c", "function": { "name": "todo", "arguments": "{}" } }]);
        let asks = Message { tool_calls: Some(calls), ..Message::text("assistant", "Let me see.") };
        let answer = Message { tool_name: Some("todo".into()), ..Message::text("tool", "a ```` b") };
        store.append("s", &[Message::text("user", "What now?"), asks, answer]).unwrap();

        let mut export = store.export("s", false).unwrap();
        export.session.started_at = Moment::from_micros(0);

        assert_eq!(
            export.markdown(),
            "# s\n\n- session: s\n- source: cli\n- started: 1970-01-01 00:00:00 UTC\n\
             \n## User\n\nWhat now?\n\
             \n## Assistant\n\nLet me see.\n\nCalls `todo`:\n\n```json\n{}\n```\n\
             \n## Tool: todo\n\n`````json\na ```` b\n`````\n"
        );
    }
}
