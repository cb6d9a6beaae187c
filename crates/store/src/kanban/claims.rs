//! Who holds a task, and claims that are over.

use std::time::Duration;

use hermes_core::kanban::{Actor, BlockKind, Hand, KanbanError, MAX_FAILURES, Status, Task};
use rusqlite::OptionalExtension as _;

use super::db::{Tx, Wrong};
use super::links;
use super::rows::SECOND;

/// Who is named when it was the board itself.
const BOARD: &str = "board";

/// A run that is on, or was.
struct Held {
    profile: String,
    session: Option<String>,
    expires_at: i64,
    outcome: Option<String>,
}

/// Makes sure that nobody else works on the task, and that the agent was not told to stop.
pub(super) fn may_touch(tx: &Tx<'_>, task: &Task, by: &Actor) -> Result<(), Wrong> {
    let Hand::Agent { session, run, task: own } = &by.hand else { return Ok(()) };
    if let Some(own) = own.as_ref().filter(|own| **own != task.id) {
        let why = format!("you were started for `{own}`; for `{}` leave a comment instead", task.id);
        return Err(KanbanError::Invalid(why).into());
    }
    if let (Some(wanted), true) = (run, *run != task.run_id)
        && let Some(Held { outcome: Some(outcome), .. }) = held(tx, *wanted)?
    {
        return Err(KanbanError::RunOver { id: task.id.clone(), run: *wanted, outcome }.into());
    }
    let Some(on) = task.run_id else { return Ok(()) };
    let Some(held) = held(tx, on)? else { return Ok(()) };
    // A claim without a session was made for whoever was started for the task.
    let ours = match (run, &held.session) {
        (Some(run), _) => *run == on,
        (None, Some(holder)) => holder == session,
        (None, None) => own.is_some(),
    };
    if ours {
        return Ok(());
    }
    let seconds = (held.expires_at - tx.now).max(0) / SECOND;
    Err(KanbanError::Taken { id: task.id.clone(), holder: held.profile, run: on, seconds }.into())
}

fn held(tx: &Tx<'_>, run: i64) -> Result<Option<Held>, Wrong> {
    let mut found =
        tx.db.prepare_cached("SELECT profile, session, expires_at, outcome FROM runs WHERE id = ?1")?;
    let held = found.query_row([run], |row| {
        Ok(Held { profile: row.get(0)?, session: row.get(1)?, expires_at: row.get(2)?, outcome: row.get(3)? })
    });
    Ok(held.optional()?)
}

/// Takes a task that can be taken; the number of the run comes back.
pub(super) fn take(tx: &Tx<'_>, task: &Task, ttl: Duration, by: &Actor) -> Result<i64, Wrong> {
    may_touch(tx, task, by)?;
    let agent = matches!(by.hand, Hand::Agent { .. });
    if let Some(other) = task.assignee.as_ref().filter(|other| agent && **other != by.name) {
        let why = format!("`{}` is for {other}, and you are {}", task.id, by.name);
        return Err(KanbanError::Invalid(why).into());
    }
    let session = match &by.hand {
        Hand::Person => None,
        Hand::Agent { session, .. } => Some(session),
    };
    let ttl = i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX).max(SECOND);
    let new = "INSERT INTO runs (task, profile, session, ttl, started_at, heartbeat_at, expires_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
    let expires = until(task, tx.now, tx.now, ttl);
    tx.db.prepare_cached(new)?.execute((&task.id, &by.name, session, ttl, tx.now, expires))?;
    let run = tx.db.last_insert_rowid();
    let moved = "UPDATE tasks SET status = 'running', run = ?2, started_at = ?3 WHERE id = ?1";
    tx.db.prepare_cached(moved)?.execute((&task.id, run, tx.now))?;
    tx.happened(&task.id, Some(run), "claimed", &by.name, None)?;
    Ok(run)
}

/// A sign of life: the claim holds for its whole time again.
pub(super) fn keep_alive(tx: &Tx<'_>, task: &Task, run: i64) -> Result<(), Wrong> {
    let (ttl, started): (i64, i64) = tx
        .db
        .prepare_cached("SELECT ttl, started_at FROM runs WHERE id = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let kept = "UPDATE runs SET heartbeat_at = ?2, expires_at = ?3 WHERE id = ?1";
    tx.db.prepare_cached(kept)?.execute((run, tx.now, until(task, started, tx.now, ttl)))?;
    Ok(())
}

/// Until when a claim holds: never beyond the time a run may take.
fn until(task: &Task, started: i64, now: i64, ttl: i64) -> i64 {
    let limit = task.max_runtime_seconds.map(|most| started.saturating_add(most.saturating_mul(SECOND)));
    now.saturating_add(ttl).min(limit.unwrap_or(i64::MAX))
}

/// Ends the run of a task, if one is on.
pub(super) fn end_run(tx: &Tx<'_>, task: &Task, outcome: &str, summary: Option<&str>) -> Result<(), Wrong> {
    let Some(run) = task.run_id else { return Ok(()) };
    let ended = "UPDATE runs SET ended_at = ?2, outcome = ?3, summary = ?4 WHERE id = ?1";
    tx.db.prepare_cached(ended)?.execute((run, tx.now, outcome, summary))?;
    tx.db.prepare_cached("UPDATE tasks SET run = NULL WHERE id = ?1")?.execute([&task.id])?;
    Ok(())
}

/// Ends every claim whose time is over. What failed too often waits for somebody to look.
pub(super) fn end_overdue(tx: &Tx<'_>) -> Result<(), Wrong> {
    let mut due = tx.db.prepare_cached(
        "SELECT t.id, t.board, r.started_at FROM runs r JOIN tasks t ON t.id = r.task \
         WHERE r.ended_at IS NULL AND r.expires_at <= ?1 ORDER BY r.id",
    )?;
    let due: Vec<(String, String, i64)> = due
        .query_map([tx.now], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (id, board, started) in due {
        let task = tx.task(&board, &id)?;
        let limit = task.max_runtime_seconds.unwrap_or(i64::MAX);
        let outcome = if (tx.now - started) / SECOND >= limit { "timed_out" } else { "expired" };
        end_run(tx, &task, outcome, None)?;
        tx.happened(&id, task.run_id, outcome, BOARD, None)?;
        let failures = task.failures.saturating_add(1);
        let moved = "UPDATE tasks SET status = ?2, failures = ?3, block_kind = ?4, block_reason = ?5 \
                     WHERE id = ?1";
        let mut moved = tx.db.prepare_cached(moved)?;
        if failures >= MAX_FAILURES {
            let why = format!("{failures} runs in a row ended without a result, the last one {outcome}");
            let kind = BlockKind::Transient.word();
            moved.execute((&id, Status::Blocked.word(), failures, kind, &why))?;
            tx.happened(&id, None, "gave_up", BOARD, Some(&why))?;
        } else {
            moved.execute((&id, Status::Ready.word(), failures, None::<&str>, None::<&str>))?;
            links::settle(tx, &board, &id, BOARD)?;
        }
    }
    Ok(())
}
