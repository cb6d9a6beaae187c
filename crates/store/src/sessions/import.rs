//! Brings in the sessions of the original's `state.db`, which is only ever read.
//!
//! Columns are taken by name and may be missing; those this store has no place for are kept beside
//! the session or message under their own names. What was imported before is recognised, so an
//! import can be repeated: it brings what is new.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::db::Sessions;
use super::error::SessionError;
use super::indexing;
use super::lineage::next_title;
use super::log::recount;
use super::message::{self, Content, Message, Slot};
use super::moment::Moment;
use super::record::{Link, event};
use super::title;
use super::usage::{Spender, Tokens, add};

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Sessions that are new here.
    pub new_sessions: u64,
    /// Sessions that were here from an earlier import.
    pub known_sessions: u64,
    /// Messages that are new here.
    pub new_messages: u64,
    /// Sessions left out, because another session here has the same id.
    pub skipped: Vec<String>,
    /// Titles that had to be numbered, because another session here has the same: id and title.
    pub renamed: Vec<(String, String)>,
}

/// Columns of a session that have their place in this store.
const SESSION: [&str; 24] = [
    "id",
    "source",
    "model",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cwd",
    "title",
    "api_call_count",
    "rewind_count",
    "archived",
    "estimated_cost_usd",
    "actual_cost_usd",
    "billing_provider",
    "session_id",
];
/// Columns of a message that have their place in this store.
const MESSAGE: [&str; 20] = [
    "id",
    "session_id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "effect_disposition",
    "timestamp",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "platform_message_id",
    "active",
    "compacted",
    "api_content",
];

impl Sessions {
    /// Imports a `state.db`, all of it or nothing.
    pub fn import(&self, path: &Path) -> Result<Imported, SessionError> {
        let wrong = |why: String| SessionError::Import { path: path.to_owned(), why };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(path, flags).map_err(|e| wrong(e.to_string()))?;
        from.execute_batch("BEGIN").map_err(|e| wrong(e.to_string()))?;
        for table in ["sessions", "messages"] {
            let there = from.prepare(&format!("SELECT id FROM {table} LIMIT 0"));
            there.map_err(|e| wrong(format!("it is not a Hermes state.db ({e})")))?;
        }
        let now = self.now();
        self.write(|db| {
            let mut done = Imported::default();
            let mut taken = BTreeSet::new();
            let mut list = from.prepare("SELECT * FROM sessions ORDER BY started_at, id")?;
            let mut rows = list.query([])?;
            while let Some(row) = rows.next()? {
                let columns = columns(row)?;
                if let Some(id) = session(db, &columns, now, &mut done)? {
                    taken.insert(id);
                }
            }
            parents(&from, db, &taken)?;
            messages(&from, db, &taken, &mut done)?;
            for id in &taken {
                recount(db, super::record::number(db, id)?)?;
            }
            indexing::index(db)?;
            Ok(done)
        })
    }
}

/// Brings in one session without its messages; gives its id if its messages are to be brought in.
fn session(
    db: &Connection,
    columns: &Map<String, Value>,
    now: Moment,
    done: &mut Imported,
) -> Result<Option<String>, SessionError> {
    let Some(id) = text(columns, "id") else { return Ok(None) };
    let known = db
        .prepare_cached("SELECT imported FROM sessions WHERE id = ?1")?
        .query_row([&id], |row| row.get::<_, bool>(0))
        .optional()?;
    match known {
        Some(true) => {
            done.known_sessions += 1;
            return Ok(Some(id));
        }
        Some(false) => {
            done.skipped.push(id);
            return Ok(None);
        }
        None => done.new_sessions += 1,
    }
    let title = free_title(db, columns, &id, done)?;
    let started = moment(columns, "started_at").unwrap_or(now);
    let extra = rest(columns, &SESSION);
    db.prepare_cached(
        "INSERT INTO sessions (id, source, model, title, cwd, system_prompt, started_at, active_at, ended_at, end_reason,
             rewind_count, archived, imported, extra)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1, ?13)",
    )?
    .execute(rusqlite::params![
        id,
        text(columns, "source").unwrap_or_else(|| "unknown".to_owned()),
        text(columns, "model"),
        title,
        text(columns, "cwd"),
        text(columns, "system_prompt"),
        started,
        moment(columns, "ended_at").unwrap_or(started),
        moment(columns, "ended_at"),
        text(columns, "end_reason"),
        integer(columns, "rewind_count"),
        integer(columns, "archived") != 0,
        (!extra.is_empty()).then(|| Value::Object(extra).to_string()),
    ])?;
    let n = db.last_insert_rowid();
    add(db, n, &spender(columns), &tokens(columns))?;
    event(db, n, now, "imported", None)?;
    Ok(Some(id))
}

/// The session's title, numbered where another session has it.
fn free_title(
    db: &Connection,
    columns: &Map<String, Value>,
    id: &str,
    done: &mut Imported,
) -> Result<Option<String>, SessionError> {
    let Some(title) = text(columns, "title").and_then(|title| title::clean(&title).ok()) else {
        return Ok(None);
    };
    if !db.prepare_cached("SELECT 1 FROM sessions WHERE title = ?1")?.exists([&title])? {
        return Ok(Some(title));
    }
    let title = next_title(db, &title)?;
    done.renamed.push((id.to_owned(), title.clone()));
    Ok(Some(title))
}

/// Ties the imported sessions to those they came from.
fn parents(from: &Connection, db: &Connection, taken: &BTreeSet<String>) -> Result<(), SessionError> {
    let Ok(mut list) = from.prepare(
        "SELECT c.id, p.id, p.end_reason FROM sessions c JOIN sessions p ON p.id = c.parent_session_id",
    ) else {
        return Ok(());
    };
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        let (child, parent): (String, String) = (row.get(0)?, row.get(1)?);
        let link = match row.get::<_, Option<String>>(2)?.as_deref() {
            Some("compression") => Link::Compaction,
            Some("branched") => Link::Fork,
            _ => Link::Other,
        };
        if taken.contains(&child) {
            db.prepare_cached(
                "UPDATE sessions SET parent = (SELECT n FROM sessions WHERE id = ?2), link = ?3
                 WHERE id = ?1 AND parent IS NULL",
            )?
            .execute((child, parent, link.word()))?;
        }
    }
    Ok(())
}

/// Brings in the messages that are not here yet.
fn messages(
    from: &Connection,
    db: &Connection,
    taken: &BTreeSet<String>,
    done: &mut Imported,
) -> Result<(), SessionError> {
    let mut list = from.prepare("SELECT * FROM messages ORDER BY id")?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        let columns = columns(row)?;
        let Some(session) = text(&columns, "session_id").filter(|id| taken.contains(id)) else { continue };
        let number = super::record::number(db, &session)?;
        let at = moment(&columns, "timestamp").unwrap_or_default();
        let slot = Slot {
            session: number,
            at,
            active: columns.get("active").is_none_or(|value| value != &json!(0)),
            compacted: integer(&columns, "compacted") != 0,
            origin: Some(integer(&columns, "id")),
        };
        if message::insert(db, &slot, &message(&columns))? > 0 {
            done.new_messages += 1;
            db.prepare_cached("UPDATE sessions SET active_at = max(active_at, ?2) WHERE n = ?1")?
                .execute((number, at))?;
        }
    }
    Ok(())
}

fn message(columns: &Map<String, Value>) -> Message {
    let token_count = columns.get("token_count").and_then(Value::as_i64);
    Message {
        role: text(columns, "role").unwrap_or_else(|| "unknown".to_owned()),
        content: text(columns, "content").map(content),
        tool_calls: parsed(columns, "tool_calls"),
        tool_call_id: text(columns, "tool_call_id"),
        tool_name: text(columns, "tool_name"),
        effect_disposition: text(columns, "effect_disposition"),
        reasoning: text(columns, "reasoning"),
        reasoning_content: text(columns, "reasoning_content"),
        reasoning_details: parsed(columns, "reasoning_details"),
        codex_reasoning_items: parsed(columns, "codex_reasoning_items"),
        codex_message_items: parsed(columns, "codex_message_items"),
        api_content: text(columns, "api_content"),
        platform_message_id: text(columns, "platform_message_id"),
        token_count,
        finish_reason: text(columns, "finish_reason"),
        extra: rest(columns, &MESSAGE),
    }
}

/// Content that is not plain text stands there as JSON behind a mark that begins with a NUL.
fn content(text: String) -> Content {
    let parts = text.strip_prefix('\0').and_then(|marked| {
        let start = marked.find('[')?;
        serde_json::from_str::<Vec<Value>>(marked.get(start..)?).ok()
    });
    parts.map_or(Content::Text(text), Content::Parts)
}

fn spender(columns: &Map<String, Value>) -> Spender {
    Spender {
        model: text(columns, "model").unwrap_or_default(),
        provider: text(columns, "billing_provider").unwrap_or_default(),
        task: "imported".to_owned(),
    }
}

fn tokens(columns: &Map<String, Value>) -> Tokens {
    let cost = |name: &str| columns.get(name).and_then(Value::as_f64);
    Tokens {
        api_calls: integer(columns, "api_call_count"),
        input_tokens: integer(columns, "input_tokens"),
        output_tokens: integer(columns, "output_tokens"),
        cache_read_tokens: integer(columns, "cache_read_tokens"),
        cache_write_tokens: integer(columns, "cache_write_tokens"),
        reasoning_tokens: integer(columns, "reasoning_tokens"),
        cost_usd: cost("actual_cost_usd").or_else(|| cost("estimated_cost_usd")).unwrap_or_default(),
    }
}

/// A row as names and values; empty columns are left out.
fn columns(row: &Row<'_>) -> Result<Map<String, Value>, SessionError> {
    let mut columns = Map::new();
    let names: Vec<String> = row.as_ref().column_names().iter().map(|name| (*name).to_owned()).collect();
    for (at, name) in names.into_iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(text) | ValueRef::Blob(text) => json!(String::from_utf8_lossy(text)),
        };
        columns.insert(name, value);
    }
    Ok(columns)
}

fn text(columns: &Map<String, Value>, name: &str) -> Option<String> {
    match columns.get(name)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn integer(columns: &Map<String, Value>, name: &str) -> i64 {
    columns.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn moment(columns: &Map<String, Value>, name: &str) -> Option<Moment> {
    columns.get(name)?.as_f64().map(Moment::from_seconds)
}

/// JSON that stands there as text; what is not JSON is kept as text.
fn parsed(columns: &Map<String, Value>, name: &str) -> Option<Value> {
    let text = text(columns, name)?;
    Some(serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// The columns this store has no place for, but for those that say nothing.
fn rest(columns: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let says = |value: &Value| value != &json!(0) && value != &json!("");
    let rest = columns.iter().filter(|(name, value)| !known.contains(&name.as_str()) && says(value));
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}
