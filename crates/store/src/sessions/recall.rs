//! Looking back: earlier conversations as a model asks for them.
//!
//! A conversation may be several sessions (forks, what goes on after a compaction, delegated tasks);
//! such a line of descent is told once. What the asking session belongs to, and tasks that were handed
//! to other agents, are left out.

use std::collections::BTreeSet;

use hermes_core::recall::{
    Conversation, Discovered, Found, Match, MessageRow, Order, Passage, SessionRow, Wanted,
};
use rusqlite::{Connection, OptionalExtension as _};

use super::db::Sessions;
use super::error::SessionError;
use super::fold::folded;
use super::log::collect;
use super::message::{COLUMNS, StoredMessage};
use super::query::{Term, parse};
use super::record::{Link, Listing, SessionRecord, number, one};
use super::search::{self, Hit, Search};

/// Messages looked at in one search.
const SCANNED: u32 = 300;
/// Messages shown on each side of a find.
const AROUND: u32 = 5;
/// Messages shown of the beginning and of the end, beside a find.
const BOOKEND: u32 = 3;
/// Messages shown of the beginning and of the end of a whole conversation.
const FIRST: i64 = 20;
const LAST: i64 = 10;
/// Characters of a message: at a find, around it, at the ends, in a conversation.
const AT_FIND: usize = 2000;
const NEAR_FIND: usize = 800;
const AT_ENDS: usize = 400;
const IN_READING: usize = 2000;
/// Characters of all messages of a window together, and the fewest of each.
const IN_WINDOW: usize = 60_000;
const FEWEST: usize = 1000;
/// Characters of the first message, in a list.
const PREVIEW: usize = 120;
/// Sessions read at a time while listing.
const PAGE: u32 = 50;
/// Most generations followed up.
const MAX_DEPTH: u32 = 10_000;

/// The door of tasks that were handed to other agents.
const SUBAGENT: &str = "subagent";
/// The door of scheduled runs: found after all else.
const CRON: &str = "cron";

impl Sessions {
    /// The newest conversations, but for the line of descent of session `but_for`.
    pub fn browse(&self, but_for: &str, limit: u32) -> Result<Vec<SessionRow>, SessionError> {
        self.read(|db| {
            let mut told: BTreeSet<i64> = root_of(db, but_for)?.into_iter().collect();
            let mut rows = Vec::new();
            let mut listing = Listing { with_messages: true, limit: PAGE, ..Listing::default() };
            loop {
                let page = self.list(&listing)?;
                for record in &page {
                    if rows.len() >= as_usize(limit) {
                        return Ok(rows);
                    }
                    if is_conversation(record)
                        && root_of(db, &record.id)?.is_none_or(|root| told.insert(root))
                    {
                        rows.push(self.row(record)?);
                    }
                }
                if page.len() < as_usize(PAGE) {
                    return Ok(rows);
                }
                listing.offset += PAGE;
            }
        })
    }

    /// The conversations in which something was said, but for the line of descent of `but_for`.
    pub fn discover(&self, but_for: &str, wanted: &Wanted) -> Result<Discovered, SessionError> {
        self.index_waiting()?;
        self.read(|db| {
            let own = root_of(db, but_for)?;
            let hits = self.search(&Search {
                roles: wanted.roles.clone(),
                not_sources: vec![SUBAGENT.to_owned()],
                not_family_of: own.map(|_| but_for.to_owned()),
                order: match wanted.order {
                    Order::Best => search::Order::Best,
                    Order::Newest => search::Order::Newest,
                    Order::Oldest => search::Order::Oldest,
                },
                limit: SCANNED,
                ..Search::text(&wanted.text)
            })?;
            let candidates = candidates(db, own, wanted, &hits)?;
            let (cron, others): (Vec<_>, Vec<_>) =
                candidates.chosen.into_iter().partition(|(record, _)| record.source == CRON);
            let mut found = Vec::new();
            for (record, by) in others.into_iter().chain(cron) {
                if found.len() >= as_usize(wanted.limit) {
                    break;
                }
                let hit = hits.iter().find(|hit| hit.session_id == record.id);
                found.extend(self.found(db, &record, by, hit)?);
            }
            Ok(Discovered { found, sessions: candidates.sessions })
        })
    }

    /// How a conversation begins and ends.
    pub fn read_through(&self, name: &str) -> Result<Conversation, SessionError> {
        self.read(|db| {
            let record = self.find(name)?;
            let n = number(db, &record.id)?;
            let count: i64 = db
                .prepare_cached("SELECT count(*) FROM messages WHERE session = ?1 AND active")?
                .query_row([n], |row| row.get(0))?;
            let select = |order: &str| {
                format!("SELECT {COLUMNS} FROM messages WHERE session = ?1 AND active ORDER BY id {order} LIMIT ?2")
            };
            let whole = count <= FIRST + LAST;
            let mut shown = collect(db, &select(""), (n, if whole { count } else { FIRST }))?;
            let mut left_out = None;
            if !whole {
                left_out = shown.last().map(|last| (count - FIRST - LAST, last.id));
                let mut last = collect(db, &select("DESC"), (n, LAST))?;
                last.reverse();
                shown.append(&mut last);
            }
            let messages = shown.iter().map(|message| told(message, IN_READING)).collect();
            Ok(Conversation { session: self.row(&record)?, messages, left_out })
        })
    }

    /// The messages around one of a session, or of another in its line of descent.
    pub fn scroll(&self, name: &str, anchor: i64, each_way: u32) -> Result<Passage, SessionError> {
        self.read(|db| {
            let record = self.find(name)?;
            let holder: Option<String> = db
                .prepare_cached(
                    "SELECT s.id FROM messages m JOIN sessions s ON s.n = m.session WHERE m.id = ?1",
                )?
                .query_row([anchor], |row| row.get(0))
                .optional()?;
            let record = match holder {
                Some(holder) if holder != record.id && root_of(db, &holder)? == root_of(db, &record.id)? => {
                    one(db, &holder)?
                }
                _ => record,
            };
            let most = (IN_WINDOW / (as_usize(each_way) * 2 + 1)).max(FEWEST);
            self.passage(&record, anchor, each_way, |_| most)
        })
    }

    fn passage(
        &self,
        record: &SessionRecord,
        anchor: i64,
        each_way: u32,
        most: impl Fn(i64) -> usize,
    ) -> Result<Passage, SessionError> {
        let window = self.around(&record.id, anchor, each_way)?;
        let messages = window.messages.iter().map(|message| told(message, most(message.id))).collect();
        let session = self.row(record)?;
        Ok(Passage { session, anchor, messages, before: window.before, after: window.after })
    }

    /// A session with what stands around the message it was found by; nothing when it says nothing.
    fn found(
        &self,
        db: &Connection,
        record: &SessionRecord,
        by: Match,
        hit: Option<&Hit>,
    ) -> Result<Option<Found>, SessionError> {
        let n = number(db, &record.id)?;
        let anchor = match hit {
            Some(hit) => Some(hit.message_id),
            None => first_message(db, n)?,
        };
        let Some(anchor) = anchor else { return Ok(None) };
        let most = |id: i64| if id == anchor { AT_FIND } else { NEAR_FIND };
        let passage = self.passage(record, anchor, AROUND, most)?;
        let ids = passage.messages.iter().map(|message| message.id);
        let (first, last) = (ids.clone().min().unwrap_or(anchor), ids.max().unwrap_or(anchor));
        let at = passage.messages.iter().find(|message| message.id == anchor);
        let role = at.map(|message| message.role.clone()).unwrap_or_default();
        let preview = || passage.session.preview.clone().unwrap_or_default();
        Ok(Some(Found {
            by,
            role,
            snippet: hit.map_or_else(preview, |hit| hit.snippet.clone()),
            start: bookend(db, n, "id < ?2 ORDER BY id", first)?,
            end: {
                let mut end = bookend(db, n, "id > ?2 ORDER BY id DESC", last)?;
                end.reverse();
                end
            },
            passage,
        }))
    }

    fn row(&self, record: &SessionRecord) -> Result<SessionRow, SessionError> {
        Ok(SessionRow {
            preview: self.preview(&record.id, PREVIEW)?,
            id: record.id.clone(),
            parent: record.parent_session_id.clone(),
            title: record.title.clone(),
            source: record.source.clone(),
            model: record.model.clone(),
            began: record.started_at.to_string(),
            last_active: record.active_at.to_string(),
            messages: record.message_count,
        })
    }
}

/// What could be told, one session for each line of descent.
struct Candidates {
    chosen: Vec<(SessionRecord, Match)>,
    /// How many sessions matched.
    sessions: usize,
}

/// Sessions whose title has the words, then those in which they were said.
fn candidates(
    db: &Connection,
    own: Option<i64>,
    wanted: &Wanted,
    hits: &[Hit],
) -> Result<Candidates, SessionError> {
    let titled = titled(db, &wanted.text)?.into_iter().map(|id| (id, Match::Title));
    let said = hits.iter().map(|hit| (hit.session_id.clone(), Match::Message));
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut lines: BTreeSet<i64> = own.into_iter().collect();
    let mut found = Candidates { chosen: Vec::new(), sessions: 0 };
    for (id, by) in titled.chain(said) {
        if !seen.insert(id.clone()) {
            continue;
        }
        let record = one(db, &id)?;
        let root = root_of(db, &id)?;
        if !is_conversation(&record) || (own.is_some() && root == own) {
            continue;
        }
        found.sessions += 1;
        if root.is_none_or(|root| lines.insert(root)) {
            found.chosen.push((record, by));
        }
    }
    Ok(found)
}

/// Sessions whose title has all the words, newest first.
fn titled(db: &Connection, text: &str) -> Result<Vec<String>, SessionError> {
    let query = parse(text);
    if query.all.is_empty() {
        return Ok(Vec::new());
    }
    let has = |title: &str, term: &Term| title.contains(&folded(term.text()));
    let mut titles = db.prepare_cached(
        "SELECT id, title FROM sessions WHERE title IS NOT NULL AND message_count > 0 ORDER BY active_at DESC, n DESC",
    )?;
    let rows = titles.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (id, title) = row?;
        let title = folded(&title);
        let all = query.all.iter().all(|any| any.iter().any(|term| has(&title, term)));
        if all && !query.none.iter().any(|term| has(&title, term)) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Whether somebody talked there, and not another agent.
fn is_conversation(record: &SessionRecord) -> bool {
    record.source != SUBAGENT && record.link != Some(Link::Delegation)
}

/// The row number of the first session of a line of descent; nothing for a session nobody keeps.
fn root_of(db: &Connection, id: &str) -> Result<Option<i64>, SessionError> {
    let mut root = db.prepare_cached(
        "WITH RECURSIVE up (n, depth) AS (
             SELECT n, 0 FROM sessions WHERE id = ?1
             UNION SELECT s.parent, depth + 1 FROM up JOIN sessions s ON s.n = up.n
             WHERE s.parent IS NOT NULL AND depth < ?2
         ) SELECT n FROM up ORDER BY depth DESC LIMIT 1",
    )?;
    Ok(root.query_row((id, MAX_DEPTH), |row| row.get(0)).optional()?)
}

/// The first thing a person said in a session, or else the first thing said at all.
fn first_message(db: &Connection, session: i64) -> Result<Option<i64>, SessionError> {
    let mut first = db.prepare_cached(
        "SELECT id FROM messages WHERE session = ?1 AND active ORDER BY role <> 'user', id LIMIT 1",
    )?;
    Ok(first.query_row([session], |row| row.get(0)).optional()?)
}

/// A few messages of people and models beyond a message.
fn bookend(db: &Connection, session: i64, side: &str, at: i64) -> Result<Vec<MessageRow>, SessionError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM messages WHERE session = ?1 AND active AND role IN ('user', 'assistant')
         AND ifnull(content, '') <> '' AND {side} LIMIT ?3"
    );
    Ok(collect(db, &sql, (session, at, BOOKEND))?.iter().map(|message| told(message, AT_ENDS)).collect())
}

/// A message in at most so many characters.
fn told(stored: &StoredMessage, most: usize) -> MessageRow {
    let message = &stored.message;
    let text = message.content.as_ref().map(super::message::Content::text).unwrap_or_default();
    let length = text.chars().count();
    let calls = message.tool_calls.as_ref().and_then(|calls| calls.as_array());
    let named = |call: &serde_json::Value| Some(call.get("function")?.get("name")?.as_str()?.to_owned());
    MessageRow {
        id: stored.id,
        role: message.role.clone(),
        cut: length.saturating_sub(most),
        text: if length > most { text.chars().take(most).collect() } else { text },
        tool: message.tool_name.clone(),
        calls: calls.into_iter().flatten().filter_map(named).collect(),
        when: stored.at.to_string(),
    }
}

fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
