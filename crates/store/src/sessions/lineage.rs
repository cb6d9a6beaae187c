//! Sessions that come from other sessions: forks, and what goes on after a compaction.

use rusqlite::Connection;
use serde_json::json;

use super::db::Sessions;
use super::error::SessionError;
use super::indexing;
use super::log::{append, recount};
use super::message::Message;
use super::record::{Link, NewSession, event, number, one};
use super::title;

/// Most generations followed.
const MAX_DEPTH: u32 = 10_000;

impl Sessions {
    /// A new session that goes on from a copy of the conversation, up to a message (that one
    /// included) or as a whole. The other session stays as it is.
    pub fn fork(&self, id: &str, up_to: Option<i64>, title: Option<&str>) -> Result<String, SessionError> {
        let now = self.now();
        self.write(|db| {
            let new = self.heir(db, id, Link::Fork, title)?;
            let (from, to) = (number(db, id)?, number(db, &new)?);
            db.prepare_cached(
                "INSERT INTO messages (session, at, role, content, parts, tool_calls, tool_call_id, tool_name,
                     effect_disposition, reasoning, reasoning_content, reasoning_details, codex_reasoning_items,
                     codex_message_items, api_content, platform_message_id, token_count, finish_reason, extra)
                 SELECT ?2, at, role, content, parts, tool_calls, tool_call_id, tool_name, effect_disposition,
                     reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items,
                     api_content, platform_message_id, token_count, finish_reason, extra
                 FROM messages WHERE session = ?1 AND active AND NOT compacted AND id <= ifnull(?3, id) ORDER BY id",
            )?
            .execute((from, to, up_to))?;
            indexing::keep_up(db)?;
            recount(db, to)?;
            event(db, from, now, "forked", Some(json!({ "to": new })))?;
            Ok(new)
        })
    }

    /// Puts a shorter conversation in place of the one so far, all or nothing. What it stands for
    /// stays in the history and can be found. Gives how many messages it stands for.
    pub fn compact(&self, id: &str, shorter: &[Message]) -> Result<usize, SessionError> {
        let now = self.now();
        self.write(|db| {
            let n = number(db, id)?;
            let folded = db
                .prepare_cached(
                    "UPDATE messages SET compacted = 1 WHERE session = ?1 AND active AND NOT compacted",
                )?
                .execute([n])?;
            append(db, n, now, shorter)?;
            recount(db, n)?;
            event(db, n, now, "compacted", Some(json!({ "from": folded, "to": shorter.len() })))?;
            Ok(folded)
        })
    }

    /// All sessions that share an ancestor with this one, itself included, oldest first.
    pub fn lineage(&self, id: &str) -> Result<Vec<String>, SessionError> {
        self.read(|db| {
            let mut family = db.prepare_cached(&format!(
                "{FAMILY} SELECT DISTINCT s.id FROM family JOIN sessions s ON s.n = family.n ORDER BY s.n"
            ))?;
            let ids = family.query_map((number(db, id)?, MAX_DEPTH), |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// A session like another, without its messages.
    fn heir(
        &self,
        db: &Connection,
        id: &str,
        link: Link,
        title: Option<&str>,
    ) -> Result<String, SessionError> {
        let parent = one(db, id)?;
        let title = match (title, parent.title) {
            (Some(title), _) => Some(title.to_owned()),
            (None, Some(title)) => Some(next_title(db, &title)?),
            (None, None) => None,
        };
        self.create(&NewSession {
            id: None,
            source: parent.source,
            model: parent.model,
            title,
            parent: Some((id.to_owned(), link)),
            cwd: parent.cwd,
            system_prompt: self.system_prompt(id)?,
            extra: parent.extra,
        })
    }
}

/// The family of session ?1: up to the root, then down to all that came from it.
pub(super) const FAMILY: &str = "WITH RECURSIVE
     up (n, depth) AS (
         SELECT ?1, 0
         UNION SELECT s.parent, depth + 1 FROM up JOIN sessions s ON s.n = up.n WHERE s.parent IS NOT NULL AND depth < ?2
     ),
     root (n) AS (SELECT n FROM up ORDER BY depth DESC LIMIT 1),
     family (n) AS (SELECT n FROM root UNION SELECT s.n FROM family JOIN sessions s ON s.parent = family.n)";

/// The free title that comes next: `work` → `work #2` → `work #3`.
pub(super) fn next_title(db: &Connection, of: &str) -> Result<String, SessionError> {
    let base = title::base(of);
    let mut taken = db.prepare_cached("SELECT 1 FROM sessions WHERE title = ?1")?;
    let mut number = title::numbered(of).map_or(2, |(_, number)| number.saturating_add(1));
    loop {
        let next = title::with_number(base, number);
        if !taken.exists([&next])? {
            return Ok(next);
        }
        number = number.saturating_add(1);
    }
}

/// Follows compactions to the newest session that has messages.
pub(super) fn newest_after_compaction(db: &Connection, id: &str) -> Result<String, SessionError> {
    let mut next = db.prepare_cached(
        "WITH RECURSIVE after (n, depth) AS (
             SELECT ?1, 0
             UNION SELECT s.n, depth + 1 FROM after JOIN sessions s ON s.parent = after.n
             WHERE s.link = 'compaction' AND depth < ?2
         )
         SELECT s.id FROM after JOIN sessions s ON s.n = after.n
         WHERE s.n = ?1 OR s.message_count > 0 ORDER BY depth DESC, s.n DESC LIMIT 1",
    )?;
    Ok(next.query_row((number(db, id)?, MAX_DEPTH), |row| row.get(0))?)
}
