//! The conversation of a session: appended to, read, taken back; never rewritten.

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::json;

use super::db::Sessions;
use super::error::SessionError;
use super::indexing;
use super::message::{self, COLUMNS, Message, Slot, StoredMessage};
use super::moment::Moment;
use super::record::{event, number};

/// A part of a session around one message.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The messages, in order.
    pub messages: Vec<StoredMessage>,
    /// How many active messages come before them.
    pub before: i64,
    /// How many come after.
    pub after: i64,
}

impl Sessions {
    /// Writes messages at the end of a session, all or none, and gives their numbers.
    pub fn append(&self, id: &str, messages: &[Message]) -> Result<Vec<i64>, SessionError> {
        let now = self.now();
        self.write(|db| append(db, number(db, id)?, now, messages))
    }

    /// The conversation: every message that was not taken back and has no summary in its place.
    pub fn messages(&self, id: &str) -> Result<Vec<StoredMessage>, SessionError> {
        self.messages_where(id, "active AND NOT compacted")
    }

    /// Every message ever written to a session, also those taken back.
    pub fn history(&self, id: &str) -> Result<Vec<StoredMessage>, SessionError> {
        self.messages_where(id, "true")
    }

    /// The messages around one, at most `each_way` before and after it.
    pub fn around(&self, id: &str, anchor: i64, each_way: u32) -> Result<Window, SessionError> {
        self.read(|db| {
            let n = number(db, id)?;
            let select = |side: &str| {
                format!("SELECT {COLUMNS} FROM messages WHERE session = ?1 AND active AND {side} LIMIT ?3")
            };
            let mut before = collect(db, &select("id < ?2 ORDER BY id DESC"), (n, anchor, each_way))?;
            before.reverse();
            let at = collect(db, &select("id = ?2"), (n, anchor, 1))?;
            let after = collect(db, &select("id > ?2 ORDER BY id"), (n, anchor, each_way))?;
            if at.is_empty() {
                return Err(SessionError::NoMessage { session: id.to_owned(), message: anchor });
            }
            let messages: Vec<StoredMessage> = before.into_iter().chain(at).chain(after).collect();
            let (first, last) = (messages.first().map_or(0, |m| m.id), messages.last().map_or(0, |m| m.id));
            let count = |side: &str, at: i64| -> Result<i64, SessionError> {
                let sql =
                    format!("SELECT count(*) FROM messages WHERE session = ?1 AND active AND id {side} ?2");
                Ok(db.prepare_cached(&sql)?.query_row((n, at), |row| row.get(0))?)
            };
            Ok(Window { before: count("<", first)?, after: count(">", last)?, messages })
        })
    }

    /// What a session begins with: the first words of its first user message, on one line.
    pub fn preview(&self, id: &str, most: usize) -> Result<Option<String>, SessionError> {
        self.read(|db| {
            let first = db
                .prepare_cached(
                    "SELECT content FROM messages WHERE session = ?1 AND active AND role = 'user' ORDER BY id LIMIT 1",
                )?
                .query_row([number(db, id)?], |row| row.get::<_, Option<String>>(0))
                .optional()?
                .flatten();
            let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(first.map(line).map(|line| line.chars().take(most).collect()))
        })
    }

    /// Takes back a message and everything after it; they stay in the history. Gives how many.
    pub fn rewind(&self, id: &str, message: i64) -> Result<usize, SessionError> {
        let now = self.now();
        self.write(|db| rewind(db, id, message, now))
    }

    /// Takes back the last `turns` user messages and everything after them. Gives the earliest of
    /// those user messages; none when the session has no such message.
    pub fn undo(&self, id: &str, turns: u32) -> Result<Option<StoredMessage>, SessionError> {
        let now = self.now();
        self.write(|db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM messages WHERE session = ?1 AND active AND NOT compacted AND role = 'user'
                 ORDER BY id DESC LIMIT ?2"
            );
            let last = collect(db, &sql, (number(db, id)?, turns))?.into_iter().next_back();
            if let Some(message) = &last {
                rewind(db, id, message.id, now)?;
            }
            Ok(last)
        })
    }

    /// The system prompt, byte for byte.
    pub fn system_prompt(&self, id: &str) -> Result<Option<String>, SessionError> {
        self.read(|db| {
            let found = db
                .prepare_cached("SELECT system_prompt FROM sessions WHERE id = ?1")?
                .query_row([id], |row| row.get(0))
                .optional()?;
            found.ok_or_else(|| SessionError::Unknown { name: id.to_owned() })
        })
    }

    /// Keeps the system prompt of a session.
    pub fn set_system_prompt(&self, id: &str, prompt: &str) -> Result<(), SessionError> {
        self.write(|db| {
            let n = number(db, id)?;
            db.execute("UPDATE sessions SET system_prompt = ?2 WHERE n = ?1", (n, prompt))?;
            Ok(())
        })
    }

    fn messages_where(&self, id: &str, which: &str) -> Result<Vec<StoredMessage>, SessionError> {
        let sql = format!("SELECT {COLUMNS} FROM messages WHERE session = ?1 AND {which} ORDER BY id");
        self.read(|db| collect(db, &sql, [number(db, id)?]))
    }
}

/// The messages a query gives.
pub(super) fn collect(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<StoredMessage>, SessionError> {
    let mut found = db.prepare_cached(sql)?;
    let mut rows = found.query(values)?;
    let mut list = Vec::new();
    while let Some(row) = rows.next()? {
        list.push(message::stored(row)?);
    }
    Ok(list)
}

/// Writes messages at the end of a session.
pub(super) fn append(
    db: &Connection,
    session: i64,
    at: Moment,
    messages: &[Message],
) -> Result<Vec<i64>, SessionError> {
    let slot = Slot { session, at, active: true, compacted: false, origin: None };
    let ids: Vec<i64> =
        messages.iter().map(|message| message::insert(db, &slot, message)).collect::<Result<_, _>>()?;
    let calls: i64 = messages.iter().map(Message::call_count).sum();
    db.prepare_cached(
        "UPDATE sessions SET active_at = ?2, message_count = message_count + ?3, tool_call_count = tool_call_count + ?4
         WHERE n = ?1",
    )?
    .execute((session, at, i64::try_from(messages.len()).unwrap_or(i64::MAX), calls))?;
    indexing::keep_up(db)?;
    Ok(ids)
}

fn rewind(db: &Connection, id: &str, message: i64, now: Moment) -> Result<usize, SessionError> {
    let n = number(db, id)?;
    let missing = || SessionError::NoMessage { session: id.to_owned(), message };
    let mut there = db.prepare_cached("SELECT 1 FROM messages WHERE id = ?2 AND session = ?1 AND active")?;
    if !there.exists((n, message))? {
        return Err(missing());
    }
    let taken = db
        .prepare_cached("UPDATE messages SET active = 0 WHERE session = ?1 AND id >= ?2 AND active")?
        .execute((n, message))?;
    db.prepare_cached("UPDATE sessions SET active_at = ?2, rewind_count = rewind_count + 1 WHERE n = ?1")?
        .execute((n, now))?;
    recount(db, n)?;
    event(db, n, now, "rewound", Some(json!({ "message": message, "count": taken })))?;
    Ok(taken)
}

/// Counts the conversation anew.
pub(super) fn recount(db: &Connection, session: i64) -> Result<(), SessionError> {
    db.prepare_cached(
        "UPDATE sessions SET
             message_count = (SELECT count(*) FROM messages m WHERE m.session = n AND active AND NOT compacted),
             tool_call_count = (SELECT ifnull(sum(json_array_length(tool_calls)), 0) FROM messages m
                 WHERE m.session = n AND active AND NOT compacted AND tool_calls IS NOT NULL)
         WHERE n = ?1",
    )?
    .execute([session])?;
    Ok(())
}
