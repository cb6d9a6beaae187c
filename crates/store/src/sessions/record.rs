//! A session as a record: making one, finding one by what a person types, listing them.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;
use serde_json::{Map, Value};

use super::db::Sessions;
use super::error::SessionError;
use super::moment::Moment;
use super::title;
use super::usage::Tokens;

/// Most characters of a session id.
const MAX_ID: usize = 128;
/// How many ids are tried for a new session.
const MAX_TRIES: u32 = 16;

/// How a session came from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// It goes on from a copy of the other.
    Fork,
    /// It goes on from a summary of the other.
    Compaction,
    /// The other handed it a task.
    Delegation,
    /// It came with an import, which does not say.
    Other,
}

impl Link {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Compaction => "compaction",
            Self::Delegation => "delegation",
            Self::Other => "other",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "fork" => Self::Fork,
            "compaction" => Self::Compaction,
            "delegation" => Self::Delegation,
            _ => Self::Other,
        }
    }
}

/// What a new session is made from.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// Its id; a fresh one is made when there is none.
    pub id: Option<String>,
    /// Which door it came in by: `cli`, `telegram`, `cron`, …
    pub source: String,
    /// The model it talks to.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The session it came from, and how.
    pub parent: Option<(String, Link)>,
    /// Where it stands.
    pub cwd: Option<String>,
    /// The system prompt, kept byte for byte.
    pub system_prompt: Option<String>,
    /// Whatever else its door wants to keep.
    pub extra: Map<String, Value>,
}

impl From<&str> for NewSession {
    /// A session that came in by this door.
    fn from(source: &str) -> Self {
        Self { source: source.to_owned(), ..Self::default() }
    }
}

/// A session as the store knows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionRecord {
    /// Its id.
    pub id: String,
    /// Which door it came in by.
    pub source: String,
    /// The model it talks to.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The session it came from.
    pub parent_session_id: Option<String>,
    /// How it came from there.
    pub link: Option<Link>,
    /// Where it stands.
    pub cwd: Option<String>,
    /// When it began.
    pub started_at: Moment,
    /// When something was last written to it.
    pub active_at: Moment,
    /// When it ended.
    pub ended_at: Option<Moment>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Messages in the conversation.
    pub message_count: i64,
    /// Tool calls asked for.
    pub tool_call_count: i64,
    /// How often messages were taken back.
    pub rewind_count: i64,
    /// What its model calls used and cost.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Whether it is hidden from lists.
    pub archived: bool,
    /// Whether it came with an import.
    pub imported: bool,
    /// Whatever else its door keeps.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Which sessions to list.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Only those that came in by this door.
    pub source: Option<String>,
    /// Also those that are hidden.
    pub archived: bool,
    /// Only those with at least one message.
    pub with_messages: bool,
    /// Most sessions to give.
    pub limit: u32,
    /// How many to leave out at the beginning.
    pub offset: u32,
}

impl Default for Listing {
    fn default() -> Self {
        Self { source: None, archived: false, with_messages: false, limit: 20, offset: 0 }
    }
}

const COLUMNS: &str = "s.id, s.source, s.model, s.title, p.id, s.link, s.cwd, s.started_at, s.active_at, s.ended_at, \
     s.end_reason, s.message_count, s.tool_call_count, s.rewind_count, s.archived, s.imported, s.extra, \
     s.api_calls, s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, \
     s.cost_usd FROM sessions s LEFT JOIN sessions p ON p.n = s.parent";

impl Sessions {
    /// Makes a session and gives its id.
    pub fn create(&self, new: &NewSession) -> Result<String, SessionError> {
        let title = new.title.as_deref().map(title::clean).transpose()?;
        if let Some(id) = new.id.as_deref().filter(|id| !is_id(id)) {
            return Err(SessionError::Id { id: id.to_owned() });
        }
        let now = self.now();
        self.write(|db| {
            if let Some(title) = &title {
                not_taken(db, title, None)?;
            }
            let (parent, link) = match &new.parent {
                Some((id, link)) => (Some(number(db, id)?), Some(link.word())),
                None => (None, None),
            };
            let id = self.insert_session(db, new, now)?;
            db.prepare_cached("UPDATE sessions SET title = ?2, parent = ?3, link = ?4 WHERE id = ?1")?
                .execute((&id, &title, parent, link))?;
            event(db, number(db, &id)?, now, "created", None)?;
            Ok(id)
        })
    }

    fn insert_session(&self, db: &Connection, new: &NewSession, now: Moment) -> Result<String, SessionError> {
        let extra = if new.extra.is_empty() { None } else { Some(serde_json::to_string(&new.extra)?) };
        let mut insert = db.prepare_cached(
            "INSERT INTO sessions (id, source, model, cwd, system_prompt, started_at, active_at, extra)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7) ON CONFLICT DO NOTHING",
        )?;
        for _ in 0..MAX_TRIES {
            let id = new.id.clone().unwrap_or_else(|| self.fresh_id(now));
            let values = (&id, &new.source, &new.model, &new.cwd, &new.system_prompt, now, &extra);
            if insert.execute(values)? == 1 {
                return Ok(id);
            }
            if new.id.is_some() {
                return Err(SessionError::Exists { id });
            }
        }
        Err(SessionError::Exists { id: self.fresh_id(now) })
    }

    fn fresh_id(&self, now: Moment) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^24 - 1")]
        let tail = (self.chance() * f64::from(0xff_ffff)) as u32;
        id_of(now, tail)
    }

    /// The session with exactly this id.
    pub fn session(&self, id: &str) -> Result<SessionRecord, SessionError> {
        self.read(|db| one(db, id))
    }

    /// The session a person means by an id, the beginning of an id that no other shares, or a title.
    /// Of numbered titles (`work #2`) the newest is meant by the bare one.
    pub fn find(&self, name: &str) -> Result<SessionRecord, SessionError> {
        self.read(|db| {
            let id = meant(db, name)?;
            one(db, &id)
        })
    }

    /// The session to go on with: what a person means, or, where that was compacted, the newest
    /// session that goes on from its summary and has messages.
    pub fn resume(&self, name: &str) -> Result<SessionRecord, SessionError> {
        self.read(|db| {
            let id = meant(db, name)?;
            one(db, &super::lineage::newest_after_compaction(db, &id)?)
        })
    }

    /// The session that was last written to, by this door if one is given.
    pub fn latest(&self, source: Option<&str>) -> Result<Option<SessionRecord>, SessionError> {
        let listing = Listing {
            source: source.map(str::to_owned),
            with_messages: true,
            limit: 1,
            ..Listing::default()
        };
        Ok(self.list(&listing)?.into_iter().next())
    }

    /// Sessions, those last written to first.
    pub fn list(&self, listing: &Listing) -> Result<Vec<SessionRecord>, SessionError> {
        let sql = format!(
            "SELECT {COLUMNS} WHERE (?1 IS NULL OR s.source = ?1) AND (?2 OR NOT s.archived) \
             AND (NOT ?3 OR s.message_count > 0) ORDER BY s.active_at DESC, s.n DESC LIMIT ?4 OFFSET ?5"
        );
        self.read(|db| {
            let mut found = db.prepare_cached(&sql)?;
            let Listing { source, archived, with_messages, limit, offset } = listing;
            let mut rows = found.query((source, archived, with_messages, limit, offset))?;
            let mut list = Vec::new();
            while let Some(row) = rows.next()? {
                list.push(record(row)?);
            }
            Ok(list)
        })
    }

    /// What was done to a session beside its messages: when, what, and details.
    pub fn events(&self, id: &str) -> Result<Vec<(Moment, String, Option<Value>)>, SessionError> {
        self.read(|db| {
            let mut found =
                db.prepare_cached("SELECT at, kind, detail FROM events WHERE session = ?1 ORDER BY n")?;
            let mut rows = found.query([number(db, id)?])?;
            let mut list = Vec::new();
            while let Some(row) = rows.next()? {
                let detail: Option<String> = row.get(2)?;
                let detail = detail.map(|text| serde_json::from_str(&text)).transpose()?;
                list.push((row.get(0)?, row.get(1)?, detail));
            }
            Ok(list)
        })
    }
}

/// An id for a session that begins at this moment: `20261115_221035_a1b2c3`.
pub fn fresh_id(now: SystemTime, chance: u32) -> String {
    id_of(Moment::from(now), chance & 0xff_ffff)
}

fn id_of(now: Moment, tail: u32) -> String {
    format!("{}_{tail:06x}", now.stamp())
}

/// The row number of a session.
pub(super) fn number(db: &Connection, id: &str) -> Result<i64, SessionError> {
    let found = db.prepare_cached("SELECT n FROM sessions WHERE id = ?1")?.query_row([id], |row| row.get(0));
    found.optional()?.ok_or_else(|| SessionError::Unknown { name: id.to_owned() })
}

/// The session with exactly this id.
pub(super) fn one(db: &Connection, id: &str) -> Result<SessionRecord, SessionError> {
    let mut found = db.prepare_cached(&format!("SELECT {COLUMNS} WHERE s.id = ?1"))?;
    let mut rows = found.query([id])?;
    match rows.next()? {
        Some(row) => record(row),
        None => Err(SessionError::Unknown { name: id.to_owned() }),
    }
}

/// Adds to the list of what was done to a session.
pub(super) fn event(
    db: &Connection,
    session: i64,
    at: Moment,
    kind: &str,
    detail: Option<Value>,
) -> Result<(), SessionError> {
    db.prepare_cached("INSERT INTO events (session, at, kind, detail) VALUES (?1, ?2, ?3, ?4)")?
        .execute((session, at, kind, detail.map(|detail| detail.to_string())))?;
    Ok(())
}

/// An error when another session has the title.
pub(super) fn not_taken(db: &Connection, title: &str, but_for: Option<i64>) -> Result<(), SessionError> {
    let mut holder = db.prepare_cached("SELECT id FROM sessions WHERE title = ?1 AND n IS NOT ?2")?;
    match holder.query_row((title, but_for), |row| row.get::<_, String>(0)).optional()? {
        Some(holder) => Err(SessionError::TitleTaken { title: title.to_owned(), holder }),
        None => Ok(()),
    }
}

fn meant(db: &Connection, name: &str) -> Result<String, SessionError> {
    let unknown = || SessionError::Unknown { name: name.to_owned() };
    if name.is_empty() {
        return Err(unknown());
    }
    if one(db, name).is_ok() {
        return Ok(name.to_owned());
    }
    if let Some(id) = newest_titled(db, name)? {
        return Ok(id);
    }
    // `glob` would read patterns in the name; a range of texts does not.
    let mut begins = db.prepare_cached(
        "SELECT id FROM sessions WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 6",
    )?;
    let ids: Vec<String> = begins.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    match ids.as_slice() {
        [] => Err(unknown()),
        [one] => Ok(one.clone()),
        _ => Err(SessionError::Ambiguous { name: name.to_owned(), ids }),
    }
}

/// The session with this title, or with the highest number after it.
fn newest_titled(db: &Connection, name: &str) -> Result<Option<String>, SessionError> {
    let mut titled = db.prepare_cached(
        "SELECT id, title FROM sessions WHERE title = ?1 OR substr(title, 1, length(?1) + 2) = ?1 || ' #'",
    )?;
    let rows = titled.query_map([name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut best: Option<(u64, String)> = None;
    for row in rows {
        let (id, title) = row?;
        let order = if title == name {
            0
        } else {
            match title::numbered(&title) {
                Some((base, number)) if base == name => number,
                _ => continue,
            }
        };
        if best.as_ref().is_none_or(|(known, _)| order >= *known) {
            best = Some((order, id));
        }
    }
    Ok(best.map(|(_, id)| id))
}

fn record(row: &Row<'_>) -> Result<SessionRecord, SessionError> {
    let extra: Option<String> = row.get(16)?;
    Ok(SessionRecord {
        id: row.get(0)?,
        source: row.get(1)?,
        model: row.get(2)?,
        title: row.get(3)?,
        parent_session_id: row.get(4)?,
        link: row.get::<_, Option<String>>(5)?.map(|word| Link::from_word(&word)),
        cwd: row.get(6)?,
        started_at: row.get(7)?,
        active_at: row.get(8)?,
        ended_at: row.get(9)?,
        end_reason: row.get(10)?,
        message_count: row.get(11)?,
        tool_call_count: row.get(12)?,
        rewind_count: row.get(13)?,
        archived: row.get(14)?,
        imported: row.get(15)?,
        extra: extra.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default(),
        tokens: Tokens {
            api_calls: row.get(17)?,
            input_tokens: row.get(18)?,
            output_tokens: row.get(19)?,
            cache_read_tokens: row.get(20)?,
            cache_write_tokens: row.get(21)?,
            reasoning_tokens: row.get(22)?,
            cost_usd: row.get(23)?,
        },
    })
}

fn is_id(id: &str) -> bool {
    let sound = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    !id.is_empty() && id.chars().count() <= MAX_ID && id.chars().all(sound)
}
