//! The journal of calls: what was about to run, how it ended, what was interrupted.
//!
//! A call is written down before it has any effect and again when it is over. A finished call is
//! never run again, and nothing here runs anything: a call that was interrupted is told about, with
//! all that is known of it, to whoever reopens the session.

use hermes_core::effect::Effect;
use hermes_core::journal::Starting;
use hermes_core::outcome::Outcome;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::db::Sessions;
use super::error::SessionError;
use super::moment::Moment;

/// What became of a recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It is about to run, or running, in a process that is alive.
    Starting,
    /// It is over, and its result is here.
    Finished,
    /// Its process ended before it was over. What it had done by then is not known.
    Interrupted,
}

/// A call as the journal knows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// Its place in the journal.
    pub number: i64,
    /// The runtime's id; unique within the process that made the call.
    pub id: String,
    /// The caller's id.
    pub given_id: String,
    /// The session's id.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments it was to run with; none for a call that was refused before.
    pub arguments: Option<Map<String, Value>>,
    /// What it was allowed to do, in words.
    pub effects: Vec<String>,
    /// What became of it.
    pub state: CallState,
    /// How a finished call ended, in one word.
    pub status: Option<String>,
    /// The result as the model reads it.
    pub body: Option<String>,
    /// Where the whole result is, when the body holds a part of it.
    pub spilled: Option<String>,
    /// What went wrong beside the call.
    pub notes: Vec<String>,
    /// When it was about to run; none for a call that never was.
    pub started_at: Option<Moment>,
    /// When it was over, or was found to be interrupted.
    pub ended_at: Option<Moment>,
    /// How long it ran, in microseconds.
    pub took_us: Option<i64>,
}

/// What is recorded before a call runs, owned, so that it can be handed to another thread.
#[derive(Debug, Clone)]
pub struct CallStart {
    id: String,
    given_id: String,
    session: String,
    tool: String,
    arguments: String,
    effects: String,
}

impl From<&Starting<'_>> for CallStart {
    fn from(start: &Starting<'_>) -> Self {
        let effects: Vec<String> = start.effects.iter().map(Effect::to_string).collect();
        Self {
            id: start.id.as_str().to_owned(),
            given_id: start.given_id.to_owned(),
            session: start.session.to_owned(),
            tool: start.tool.to_owned(),
            arguments: Value::Object(start.arguments.clone()).to_string(),
            effects: json!(effects).to_string(),
        }
    }
}

const COLUMNS: &str = "n, id, given_id, session, tool, arguments, effects, state, status, body, spilled, notes, \
     started_at, ended_at, took_us";

impl Sessions {
    /// Writes down that a call is about to run. Durable when this returns.
    pub fn call_starting(&self, start: &CallStart) -> Result<(), SessionError> {
        let owner = self.owner()?;
        let now = self.now();
        self.write(|db| {
            let after = newest_message(db, &start.session)?;
            let mut insert = db.prepare_cached(
                "INSERT INTO calls (owner, id, given_id, session, tool, arguments, effects, state, after_message, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9)",
            )?;
            let CallStart { id, given_id, session, tool, arguments, effects } = start;
            insert.execute((owner, id, given_id, session, tool, arguments, effects, after, now))?;
            Ok(())
        })
    }

    /// Writes down how a call ended. Durable when this returns. Said twice, the later word counts.
    pub fn call_finished(&self, session: &str, outcome: &Outcome) -> Result<(), SessionError> {
        let owner = self.owner()?;
        let now = self.now();
        let took = i64::try_from(outcome.took.as_micros()).unwrap_or(i64::MAX);
        let spilled = outcome.spilled.as_ref().map(|path| path.to_string_lossy());
        let notes = (!outcome.notes.is_empty()).then(|| json!(outcome.notes).to_string());
        self.write(|db| {
            let after = newest_message(db, session)?;
            // A call that was refused has no beginning: this is the first word about it.
            let mut upsert = db.prepare_cached(
                "INSERT INTO calls (owner, id, given_id, session, tool, state, status, body, spilled, notes,
                     after_message, ended_at, took_us)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                 ON CONFLICT (owner, id) DO UPDATE SET state = 1, status = excluded.status, body = excluded.body,
                     spilled = excluded.spilled, notes = excluded.notes, ended_at = excluded.ended_at,
                     took_us = excluded.took_us",
            )?;
            upsert.execute(rusqlite::params![
                owner,
                outcome.id.as_str(),
                outcome.given_id,
                session,
                outcome.tool.as_ref(),
                outcome.status.word(),
                outcome.body,
                spilled,
                notes,
                after,
                now,
                took,
            ])?;
            Ok(())
        })
    }

    /// All recorded calls of a session, in the order in which they were first heard of.
    pub fn calls(&self, session: &str) -> Result<Vec<CallRecord>, SessionError> {
        self.calls_where("session = ?1 ORDER BY n", &[&session])
    }

    /// The interrupted calls of a session, or of all sessions. Processes that died in the meantime
    /// are looked for first.
    pub fn interrupted(&self, session: Option<&str>) -> Result<Vec<CallRecord>, SessionError> {
        self.mark_interrupted()?;
        match session {
            Some(session) => self.calls_where("session = ?1 AND state = 2 ORDER BY n", &[&session]),
            None => self.calls_where("state = 2 ORDER BY n", &[]),
        }
    }

    fn calls_where(
        &self,
        which: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<CallRecord>, SessionError> {
        let sql = format!("SELECT {COLUMNS} FROM calls WHERE {which}");
        self.read(|db| {
            let mut found = db.prepare_cached(&sql)?;
            let found = found.query_map(values, record)?;
            found.map(|row| row?.into_record()).collect()
        })
    }
}

/// The newest call by the caller's id that was heard of after a message was written.
pub(super) fn call_after(
    db: &Connection,
    session: &str,
    given_id: &str,
    message: i64,
) -> Result<Option<CallRecord>, SessionError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM calls WHERE session = ?1 AND given_id = ?2 AND after_message >= ?3 ORDER BY n DESC LIMIT 1"
    );
    let found = db.prepare_cached(&sql)?.query_row((session, given_id, message), record).optional()?;
    found.map(Raw::into_record).transpose()
}

fn newest_message(db: &Connection, session: &str) -> Result<i64, SessionError> {
    let mut newest = db.prepare_cached(
        "SELECT ifnull(max(id), 0) FROM messages WHERE session = (SELECT n FROM sessions WHERE id = ?1)",
    )?;
    Ok(newest.query_row([session], |row| row.get(0))?)
}

/// A row with its JSON still as text.
struct Raw {
    record: CallRecord,
    arguments: Option<String>,
    effects: Option<String>,
    notes: Option<String>,
}

fn record(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let state = match row.get::<_, i64>(7)? {
        0 => CallState::Starting,
        1 => CallState::Finished,
        _ => CallState::Interrupted,
    };
    let record = CallRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        given_id: row.get(2)?,
        session: row.get(3)?,
        tool: row.get(4)?,
        arguments: None,
        effects: Vec::new(),
        state,
        status: row.get(8)?,
        body: row.get(9)?,
        spilled: row.get(10)?,
        notes: Vec::new(),
        started_at: row.get(12)?,
        ended_at: row.get(13)?,
        took_us: row.get(14)?,
    };
    Ok(Raw { record, arguments: row.get(5)?, effects: row.get(6)?, notes: row.get(11)? })
}

impl Raw {
    fn into_record(self) -> Result<CallRecord, SessionError> {
        let list = |text: Option<String>| text.map_or(Ok(Vec::new()), |text| serde_json::from_str(&text));
        Ok(CallRecord {
            arguments: self.arguments.map(|text| serde_json::from_str(&text)).transpose()?,
            effects: list(self.effects)?,
            notes: list(self.notes)?,
            ..self.record
        })
    }
}
