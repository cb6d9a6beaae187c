//! What waits for what, without circles.

use std::collections::{BTreeMap, VecDeque};

use hermes_core::kanban::{Actor, KanbanError, Link, Status, Task};
use rusqlite::Connection;

use super::db::{Boards, Tx, Wrong};
use super::rows::{self, TASKS};

impl Boards {
    /// Lets one task wait for another, or no longer; the one that waits comes back.
    pub fn link(&self, link: &Link, wanted: bool, by: &Actor) -> Result<Task, KanbanError> {
        self.write(|tx| {
            let board = tx.board(link.board.as_deref())?;
            let parent = tx.task(&board, &link.parent)?;
            let child = tx.task(&board, &link.child)?;
            if wanted {
                join(tx, &parent, &child)?;
            } else {
                let gone = tx
                    .db
                    .prepare_cached("DELETE FROM links WHERE parent = ?1 AND child = ?2")?
                    .execute((&parent.id, &child.id))?;
                if gone == 0 {
                    let why = format!("`{}` does not wait for `{}`", child.id, parent.id);
                    return Err(KanbanError::Invalid(why).into());
                }
            }
            let kind = if wanted { "linked" } else { "unlinked" };
            tx.happened(&child.id, child.run_id, kind, &by.name, Some(&parent.id))?;
            settle(tx, &board, &child.id, &by.name)?;
            tx.task(&board, &child.id)
        })
    }
}

/// Lets `child` wait for `parent`.
pub(super) fn join(tx: &Tx<'_>, parent: &Task, child: &Task) -> Result<(), Wrong> {
    if matches!(child.status, Status::Done | Status::Archived) {
        let hint = format!("make a new task that waits for `{}`", parent.id);
        let (id, status) = (child.id.clone(), child.status);
        return Err(KanbanError::Status { id, status, doing: "made to wait", hint }.into());
    }
    if let Some(path) = way(tx.db, &child.id, &parent.id)? {
        let (parent, child) = (parent.id.clone(), child.id.clone());
        return Err(KanbanError::Cycle { parent, child, path }.into());
    }
    let new = "INSERT OR IGNORE INTO links (parent, child) VALUES (?1, ?2)";
    tx.db.prepare_cached(new)?.execute((&parent.id, &child.id))?;
    Ok(())
}

/// The way from a task to another by what waits for it, if there is one.
fn way(db: &Connection, from: &str, to: &str) -> Result<Option<Vec<String>>, Wrong> {
    let mut came_from: BTreeMap<String, String> = BTreeMap::new();
    let mut open = VecDeque::from([from.to_owned()]);
    let mut next = db.prepare_cached("SELECT child FROM links WHERE parent = ?1 ORDER BY child")?;
    while let Some(at) = open.pop_front() {
        if at == to {
            let mut path = vec![at.clone()];
            let mut at = at;
            while at != from
                && let Some(before) = came_from.get(&at)
            {
                path.push(before.clone());
                at.clone_from(before);
            }
            path.reverse();
            return Ok(Some(path));
        }
        let waiting: Vec<String> = next.query_map([&at], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for child in waiting {
            if child != from && !came_from.contains_key(&child) {
                came_from.insert(child.clone(), at.clone());
                open.push_back(child);
            }
        }
    }
    Ok(None)
}

/// What has to be done before a task, or what waits for it.
pub(super) fn beside(tx: &Tx<'_>, id: &str, parents: bool) -> Result<Vec<Task>, Wrong> {
    let (other, own) = if parents { ("parent", "child") } else { ("child", "parent") };
    let text =
        format!("{TASKS} JOIN links l ON l.{other} = t.id WHERE l.{own} = ?1 ORDER BY t.created_at, t.id");
    let mut found = tx.db.prepare_cached(&text)?;
    Ok(found.query_map([id], rows::task)?.collect::<Result<_, _>>()?)
}

/// The tasks that still have to be done before this one.
pub(super) fn unfinished(tx: &Tx<'_>, id: &str) -> Result<Vec<String>, Wrong> {
    let mut found = tx.db.prepare_cached(
        "SELECT t.id FROM links l JOIN tasks t ON t.id = l.parent \
         WHERE l.child = ?1 AND t.status NOT IN ('done', 'archived') ORDER BY t.created_at, t.id",
    )?;
    Ok(found.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// A task that waited for nothing but others can be taken when they are done, and the other way round.
pub(super) fn settle(tx: &Tx<'_>, board: &str, id: &str, by: &str) -> Result<(), Wrong> {
    let task = tx.task(board, id)?;
    let waits = !unfinished(tx, id)?.is_empty();
    let (to, kind) = match (task.status, waits) {
        (Status::Todo, false) => (Status::Ready, "promoted"),
        (Status::Ready, true) => (Status::Todo, "waiting"),
        _ => return Ok(()),
    };
    let moved = "UPDATE tasks SET status = ?2, block_kind = NULL, block_reason = NULL WHERE id = ?1";
    tx.db.prepare_cached(moved)?.execute((id, to.word()))?;
    tx.happened(id, None, kind, by, None)
}

/// The same for all that waited for a task.
pub(super) fn settle_children(tx: &Tx<'_>, board: &str, id: &str, by: &str) -> Result<(), Wrong> {
    for child in beside(tx, id, false)? {
        settle(tx, board, &child.id, by)?;
    }
    Ok(())
}
