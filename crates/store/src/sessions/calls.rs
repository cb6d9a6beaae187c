//! The journal of calls: what was about to run, how it ended, what was interrupted.
//!
//! A call is written down before it has any effect and again when it is over. A finished call is
//! never run again, and nothing here runs anything: a call that was interrupted is told about, with
//! all that is known of it, to whoever reopens the session.

use std::borrow::Cow;
use std::collections::HashMap;

use hermes_core::effect::Effect;
use hermes_core::journal::Starting;
use hermes_core::outcome::Outcome;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::db::{Durability, Sessions};
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

/// What is recorded before a call runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallStart<'a> {
    id: Cow<'a, str>,
    given_id: Cow<'a, str>,
    session: Cow<'a, str>,
    tool: Cow<'a, str>,
    arguments: String,
    effects: Cow<'a, str>,
}

impl<'a> From<&Starting<'a>> for CallStart<'a> {
    fn from(start: &Starting<'a>) -> Self {
        let effects = || json!(start.effects.iter().map(Effect::to_string).collect::<Vec<_>>());
        Self {
            id: start.id.as_str().into(),
            given_id: start.given_id.into(),
            session: start.session.into(),
            tool: start.tool.into(),
            arguments: serde_json::to_string(start.arguments).unwrap_or_default(),
            effects: if start.effects.is_empty() { "[]".into() } else { effects().to_string().into() },
        }
    }
}

impl CallStart<'_> {
    /// The same, for another thread.
    pub fn into_owned(self) -> CallStart<'static> {
        let CallStart { id, given_id, session, tool, arguments, effects } = self;
        let [id, given_id, session, tool, effects] = [id, given_id, session, tool, effects].map(own);
        CallStart { id, given_id, session, tool, arguments, effects }
    }
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// What is recorded when a call is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CallEnd<'a> {
    id: Cow<'a, str>,
    given_id: Cow<'a, str>,
    session: Cow<'a, str>,
    tool: Cow<'a, str>,
    status: Cow<'a, str>,
    body: Cow<'a, str>,
    spilled: Option<Cow<'a, str>>,
    notes: Option<String>,
    took_us: i64,
}

impl<'a> CallEnd<'a> {
    pub(super) fn new(session: &'a str, outcome: &'a Outcome) -> Self {
        Self {
            id: outcome.id.as_str().into(),
            given_id: outcome.given_id.as_str().into(),
            session: session.into(),
            tool: outcome.tool.as_ref().into(),
            status: outcome.status.word().into(),
            body: outcome.body.as_str().into(),
            spilled: outcome.spilled.as_ref().map(|path| path.to_string_lossy()),
            notes: (!outcome.notes.is_empty()).then(|| json!(outcome.notes).to_string()),
            took_us: i64::try_from(outcome.took.as_micros()).unwrap_or(i64::MAX),
        }
    }
}

/// A word about a call, and when it was said, in microseconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Word<'a> {
    Starting(i64, CallStart<'a>),
    Finished(i64, CallEnd<'a>),
}

impl Word<'_> {
    /// The same, for another thread.
    pub(super) fn into_owned(self) -> Word<'static> {
        match self {
            Self::Starting(at, start) => Word::Starting(at, start.into_owned()),
            Self::Finished(at, end) => {
                let CallEnd { id, given_id, session, tool, status, body, spilled, notes, took_us } = end;
                let [id, given_id, session, tool, status, body] =
                    [id, given_id, session, tool, status, body].map(own);
                let spilled = spilled.map(own);
                let end = CallEnd { id, given_id, session, tool, status, body, spilled, notes, took_us };
                Word::Finished(at, end)
            }
        }
    }
}

const COLUMNS: &str = "n, id, given_id, session, tool, arguments, effects, state, status, body, spilled, notes, \
     started_at, ended_at, took_us";

impl Sessions {
    /// Writes down that a call is about to run. Durable when this returns.
    pub fn call_starting(&self, start: CallStart<'_>) -> Result<(), SessionError> {
        self.write_down(&Word::Starting(self.now().micros(), start))
    }

    /// Writes down how a call ended. Durable when this returns. Said twice, the later word counts.
    pub fn call_finished(&self, session: &str, outcome: &Outcome) -> Result<(), SessionError> {
        self.write_down(&Word::Finished(self.now().micros(), CallEnd::new(session, outcome)))
    }

    /// Where a word has to survive a power cut it is brought to the disk with the database; a file beside
    /// it would have to be waited for as well.
    pub(super) fn write_down(&self, word: &Word<'_>) -> Result<(), SessionError> {
        let owner = self.owner()?;
        match self.durability() {
            Durability::Kill => self.call_log.add(word).map(drop),
            Durability::PowerCut => self.write(|db| put(db, owner, std::iter::once(word.clone()))),
        }
    }

    /// All recorded calls of a session, in the order in which they were first heard of.
    pub fn calls(&self, session: &str) -> Result<Vec<CallRecord>, SessionError> {
        self.catch_up()?;
        self.calls_where("session = ?1 ORDER BY n", &[&session])
    }

    /// The interrupted calls of a session, or of all sessions. Processes that died in the meantime
    /// are looked for first.
    pub fn interrupted(&self, session: Option<&str>) -> Result<Vec<CallRecord>, SessionError> {
        self.catch_up()?;
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

/// All that some words say about one call.
struct Said<'a> {
    start: Option<(i64, CallStart<'a>)>,
    end: Option<(i64, CallEnd<'a>)>,
}

/// Takes words over, in the order in which their calls were first heard of. What is there already stays as
/// it is, except that a later word about an end counts.
pub(super) fn put<'a>(
    db: &Connection,
    owner: i64,
    words: impl Iterator<Item = Word<'a>>,
) -> Result<(), SessionError> {
    let (mut calls, mut places): (Vec<Said<'a>>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    for word in words {
        let id = match &word {
            Word::Starting(_, start) => start.id.as_ref(),
            Word::Finished(_, end) => end.id.as_ref(),
        };
        let place = *places.entry(id.to_owned()).or_insert(calls.len());
        if place == calls.len() {
            calls.push(Said { start: None, end: None });
        }
        let Some(said) = calls.get_mut(place) else { continue };
        match word {
            Word::Starting(at, start) => said.start = said.start.take().or(Some((at, start))),
            Word::Finished(at, end) => said.end = Some((at, end)),
        }
    }
    let mut after = NewestMessage::default();
    calls.iter().try_for_each(|said| put_call(db, owner, said, &mut after))
}

fn put_call(
    db: &Connection,
    owner: i64,
    said: &Said<'_>,
    after: &mut NewestMessage,
) -> Result<(), SessionError> {
    // A call that was refused has no beginning, and one that runs has no end.
    let Said { start, end } = said;
    let (started_at, start) = (start.as_ref().map(|(at, _)| at), start.as_ref().map(|(_, start)| start));
    let (ended_at, end) = (end.as_ref().map(|(at, _)| at), end.as_ref().map(|(_, end)| end));
    let (id, given_id, session, tool) = match (start, end) {
        (Some(start), _) => {
            (start.id.as_ref(), start.given_id.as_ref(), start.session.as_ref(), start.tool.as_ref())
        }
        (None, Some(end)) => {
            (end.id.as_ref(), end.given_id.as_ref(), end.session.as_ref(), end.tool.as_ref())
        }
        (None, None) => return Ok(()),
    };
    let known = if end.is_some() { KNOWN_BY_ITS_END } else { "NOTHING" };
    let mut upsert = db.prepare_cached(&format!(
        "INSERT INTO calls (owner, id, given_id, session, tool, arguments, effects, state, status, body, spilled,
             notes, after_message, started_at, ended_at, took_us)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT (owner, id) DO {known}"
    ))?;
    upsert.execute(rusqlite::params![
        owner,
        id,
        given_id,
        session,
        tool,
        start.map(|start| &start.arguments),
        start.map(|start| &start.effects),
        i64::from(end.is_some()),
        end.map(|end| &end.status),
        end.map(|end| &end.body),
        end.and_then(|end| end.spilled.as_ref()),
        end.and_then(|end| end.notes.as_ref()),
        after.of(db, session)?,
        started_at,
        ended_at,
        end.map(|end| end.took_us),
    ])?;
    Ok(())
}

/// What an end changes of a call whose beginning is there.
const KNOWN_BY_ITS_END: &str = "UPDATE SET state = 1, status = excluded.status, body = excluded.body, \
     spilled = excluded.spilled, notes = excluded.notes, ended_at = excluded.ended_at, took_us = excluded.took_us";

/// The newest message of the session that was last asked for.
#[derive(Default)]
struct NewestMessage(Option<(String, i64)>);

impl NewestMessage {
    fn of(&mut self, db: &Connection, session: &str) -> Result<i64, SessionError> {
        if let Some((known, newest)) = &self.0
            && known == session
        {
            return Ok(*newest);
        }
        let mut newest = db.prepare_cached(
            "SELECT ifnull(max(id), 0) FROM messages WHERE session = (SELECT n FROM sessions WHERE id = ?1)",
        )?;
        let newest = newest.query_row([session], |row| row.get(0))?;
        self.0 = Some((session.to_owned(), newest));
        Ok(newest)
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
