//! Looking after sessions: titles, ends, deletion, pruning.

use rusqlite::Connection;
use serde_json::json;

use super::db::Sessions;
use super::error::SessionError;
use super::lineage::next_title;
use super::moment::Moment;
use super::record::{event, not_taken, number};
use super::title;

/// Which sessions to prune.
#[derive(Debug, Clone)]
pub struct Prune {
    /// Those last written to before this.
    pub before: Moment,
    /// Only those that came in by this door.
    pub source: Option<String>,
}

impl Sessions {
    /// Gives a session a title: at most 100 visible characters, unlike any other. Gives the title
    /// as it is kept.
    pub fn rename(&self, id: &str, title: &str) -> Result<String, SessionError> {
        let title = title::clean(title)?;
        let now = self.now();
        self.write(|db| {
            let n = number(db, id)?;
            not_taken(db, &title, Some(n))?;
            db.execute("UPDATE sessions SET title = ?2 WHERE n = ?1", (n, &title))?;
            event(db, n, now, "renamed", Some(json!({ "title": title })))?;
            Ok(title)
        })
    }

    /// Gives a session without a title this one, or the next number of it. Gives whether it did.
    pub fn title_if_none(&self, id: &str, title: &str) -> Result<bool, SessionError> {
        let title = title::clean(title)?;
        self.write(|db| {
            let n = number(db, id)?;
            let free = match not_taken(db, &title, Some(n)) {
                Ok(()) => title,
                Err(SessionError::TitleTaken { .. }) => next_title(db, &title)?,
                Err(other) => return Err(other),
            };
            let sql = "UPDATE sessions SET title = ?2 WHERE n = ?1 AND title IS NULL";
            Ok(db.prepare_cached(sql)?.execute((n, &free))? == 1)
        })
    }

    /// The session talks to another model from now on.
    pub fn set_model(&self, id: &str, model: &str) -> Result<(), SessionError> {
        let now = self.now();
        self.write(|db| {
            let n = number(db, id)?;
            db.execute("UPDATE sessions SET model = ?2 WHERE n = ?1", (n, model))?;
            event(db, n, now, "model", Some(json!({ "model": model })))
        })
    }

    /// Hides a session from lists, or shows it again.
    pub fn archive(&self, id: &str, archived: bool) -> Result<(), SessionError> {
        self.write(|db| {
            db.execute("UPDATE sessions SET archived = ?2 WHERE n = ?1", (number(db, id)?, archived))?;
            Ok(())
        })
    }

    /// Ends a session, with the reason in one word. It can be taken up again.
    pub fn end(&self, id: &str, reason: &str) -> Result<(), SessionError> {
        let now = self.now();
        self.write(|db| end(db, id, reason, now))
    }

    /// Takes a session up again that had ended.
    pub fn reopen(&self, id: &str) -> Result<(), SessionError> {
        let now = self.now();
        self.write(|db| {
            let n = number(db, id)?;
            let ended = db
                .execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE n = ?1 AND ended_at IS NOT NULL", [n])?;
            if ended > 0 {
                event(db, n, now, "resumed", None)?;
            }
            Ok(())
        })
    }

    /// Deletes a session with its messages and calls. Sessions that came from it stay.
    pub fn delete(&self, id: &str) -> Result<(), SessionError> {
        self.catch_up()?;
        self.write(|db| delete(db, number(db, id)?, id))
    }

    /// The sessions that [`Sessions::prune`] would delete, oldest first.
    pub fn prunable(&self, which: &Prune) -> Result<Vec<String>, SessionError> {
        self.catch_up()?;
        self.read(|db| Ok(prunable(db, which)?.into_iter().map(|(_, id)| id).collect()))
    }

    /// Deletes old sessions and gives their ids. A session with a call that is running stays.
    pub fn prune(&self, which: &Prune) -> Result<Vec<String>, SessionError> {
        self.catch_up()?;
        let gone = self.write(|db| {
            let old = prunable(db, which)?;
            for (n, id) in &old {
                delete(db, *n, id)?;
            }
            Ok(old)
        })?;
        Ok(gone.into_iter().map(|(_, id)| id).collect())
    }
}

/// Ends a session; one that has ended keeps its first end.
pub(super) fn end(db: &Connection, id: &str, reason: &str, now: Moment) -> Result<(), SessionError> {
    let n = number(db, id)?;
    let ended = db
        .prepare_cached(
            "UPDATE sessions SET ended_at = ?2, end_reason = ?3 WHERE n = ?1 AND ended_at IS NULL",
        )?
        .execute((n, now, reason))?;
    if ended > 0 {
        event(db, n, now, "ended", Some(json!({ "reason": reason })))?;
    }
    Ok(())
}

fn prunable(db: &Connection, which: &Prune) -> Result<Vec<(i64, String)>, SessionError> {
    let mut old = db.prepare_cached(
        "SELECT n, id FROM sessions s WHERE active_at < ?1 AND (?2 IS NULL OR source = ?2)
             AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.session = s.id AND state = 0)
         ORDER BY active_at, n",
    )?;
    let rows = old.query_map((which.before, &which.source), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn delete(db: &Connection, n: i64, id: &str) -> Result<(), SessionError> {
    // Messages first and by name, so that they also leave the search indexes.
    db.prepare_cached("DELETE FROM messages WHERE session = ?1")?.execute([n])?;
    db.prepare_cached("DELETE FROM calls WHERE session = ?1")?.execute([id])?;
    db.prepare_cached("DELETE FROM sessions WHERE n = ?1")?.execute([n])?;
    Ok(())
}
