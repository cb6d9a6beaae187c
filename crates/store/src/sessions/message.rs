//! A message as it is kept: every field that any wire or the original knows.
//!
//! Its JSON form is the message format that models and exports use. What has no field of its own
//! here is kept under its own name in `extra`, so that nothing is lost by storing it.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::SessionError;
use super::moment::Moment;

/// What a message says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts: text, images and whatever else a wire knows.
    Parts(Vec<Value>),
}

impl Content {
    /// The text in it; of parts, the text of each on its own line.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What it says.
    pub content: Option<Content>,
    /// The tool calls an assistant asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Value>,
    /// The call a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What is known of the effects of a call that gave no result: `none` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_disposition: Option<String>,
    /// The model's thoughts, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The same, in the field some providers want back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// The same, with signatures, as some providers want it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_details: Option<Value>,
    /// Reasoning items of the responses wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codex_reasoning_items: Option<Value>,
    /// Message items of the responses wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codex_message_items: Option<Value>,
    /// The exact text that was sent in place of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_content: Option<String>,
    /// The id a chat platform gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_message_id: Option<String>,
    /// Its size as the provider counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_count: Option<i64>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of plain text.
    pub fn text(role: impl Into<String>, text: impl Into<String>) -> Self {
        Self { role: role.into(), content: Some(Content::Text(text.into())), ..Self::default() }
    }

    /// How many tool calls it asks for.
    pub(super) fn call_count(&self) -> i64 {
        let count = self.tool_calls.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

/// A message with its place in the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredMessage {
    /// Its number; later messages have higher ones.
    pub id: i64,
    /// When it was written.
    #[serde(rename = "timestamp")]
    pub at: Moment,
    /// Whether it is part of the conversation; false after it was taken back.
    pub active: bool,
    /// Whether a summary stands in its place.
    pub compacted: bool,
    /// The message.
    #[serde(flatten)]
    pub message: Message,
}

/// The columns that [`stored`] reads, in its order.
pub(super) const COLUMNS: &str = "id, at, active, compacted, role, content, parts, tool_calls, tool_call_id, \
     tool_name, effect_disposition, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, \
     codex_message_items, api_content, platform_message_id, token_count, finish_reason, extra";

/// The columns that [`Values`] writes after `session, at, active, compacted, origin`.
pub(super) const INSERT: &str = "INSERT INTO messages (session, at, active, compacted, origin, role, content, parts, \
     tool_calls, tool_call_id, tool_name, effect_disposition, reasoning, reasoning_content, reasoning_details, \
     codex_reasoning_items, codex_message_items, api_content, platform_message_id, token_count, finish_reason, extra) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)";

/// Where a message goes, beside what it says.
pub(super) struct Slot {
    pub(super) session: i64,
    pub(super) at: Moment,
    pub(super) active: bool,
    pub(super) compacted: bool,
    pub(super) origin: Option<i64>,
}

/// Writes one message and gives its number; 0 when it was there already.
pub(super) fn insert(db: &rusqlite::Connection, slot: &Slot, message: &Message) -> Result<i64, SessionError> {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    let parts = match &message.content {
        Some(Content::Parts(parts)) => Some(serde_json::to_string(parts)?),
        _ => None,
    };
    let extra = if message.extra.is_empty() { None } else { Some(serde_json::to_string(&message.extra)?) };
    let sql = match slot.origin {
        Some(_) => format!("{INSERT} ON CONFLICT DO NOTHING"),
        None => INSERT.to_owned(),
    };
    let written = db.prepare_cached(&sql)?.execute(rusqlite::params![
        slot.session,
        slot.at,
        slot.active,
        slot.compacted,
        slot.origin,
        message.role,
        message.content.as_ref().map(Content::text),
        parts,
        json(&message.tool_calls),
        message.tool_call_id,
        message.tool_name,
        message.effect_disposition,
        message.reasoning,
        message.reasoning_content,
        json(&message.reasoning_details),
        json(&message.codex_reasoning_items),
        json(&message.codex_message_items),
        message.api_content,
        message.platform_message_id,
        message.token_count,
        message.finish_reason,
        extra,
    ])?;
    Ok(if written == 0 { 0 } else { db.last_insert_rowid() })
}

/// A message from a row of [`COLUMNS`].
pub(super) fn stored(row: &Row<'_>) -> Result<StoredMessage, SessionError> {
    let json = |at: usize| -> Result<Option<Value>, SessionError> {
        let text: Option<String> = row.get(at)?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    };
    let parts: Option<String> = row.get(6)?;
    let content = match parts {
        Some(parts) => Some(Content::Parts(serde_json::from_str(&parts)?)),
        None => row.get::<_, Option<String>>(5)?.map(Content::Text),
    };
    let extra: Option<String> = row.get(20)?;
    Ok(StoredMessage {
        id: row.get(0)?,
        at: row.get(1)?,
        active: row.get(2)?,
        compacted: row.get(3)?,
        message: Message {
            role: row.get(4)?,
            content,
            tool_calls: json(7)?,
            tool_call_id: row.get(8)?,
            tool_name: row.get(9)?,
            effect_disposition: row.get(10)?,
            reasoning: row.get(11)?,
            reasoning_content: row.get(12)?,
            reasoning_details: json(13)?,
            codex_reasoning_items: json(14)?,
            codex_message_items: json(15)?,
            api_content: row.get(16)?,
            platform_message_id: row.get(17)?,
            token_count: row.get(18)?,
            finish_reason: row.get(19)?,
            extra: extra.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default(),
        },
    })
}
