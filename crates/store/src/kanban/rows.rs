//! From rows of the database to what is told of a task.

use hermes_core::kanban::{
    Attached, BlockKind, Comment, Event, KanbanError, Run, Status, Task, WorkspaceKind,
};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Row};

use super::db::{Tx, Wrong};

/// Microseconds in a second.
pub(super) const SECOND: i64 = 1_000_000;

/// What every question about tasks begins with.
pub(super) const TASKS: &str = "SELECT t.*, r.expires_at AS claim_expires_at FROM tasks t \
     LEFT JOIN runs r ON r.id = t.run";

pub(super) fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let skills: String = row.get("skills")?;
    let metadata: String = row.get("metadata")?;
    Ok(Task {
        id: row.get("id")?,
        board: row.get("board")?,
        title: row.get("title")?,
        body: row.get("body")?,
        status: word(row, "status", Status::from_word)?,
        assignee: row.get("assignee")?,
        priority: row.get("priority")?,
        tenant: row.get("tenant")?,
        workspace_kind: word(row, "workspace_kind", WorkspaceKind::from_word)?,
        workspace_path: row.get("workspace_path")?,
        project: row.get("project")?,
        max_runtime_seconds: seconds(row, "max_runtime")?,
        skills: serde_json::from_str(&skills).unwrap_or_default(),
        goal_mode: row.get("goal_mode")?,
        goal_max_turns: row.get("goal_max_turns")?,
        created_by: row.get("created_by")?,
        created_in: row.get("created_in")?,
        created_at: row.get::<_, i64>("created_at")? / SECOND,
        started_at: seconds(row, "started_at")?,
        completed_at: seconds(row, "completed_at")?,
        summary: row.get("summary")?,
        result: row.get("result")?,
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        block_kind: row.get::<_, Option<String>>("block_kind")?.as_deref().and_then(BlockKind::from_word),
        block_reason: row.get("block_reason")?,
        failures: row.get("failures")?,
        run_id: row.get("run")?,
        claim_expires_at: seconds(row, "claim_expires_at")?,
    })
}

pub(super) fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get("id")?,
        profile: row.get("profile")?,
        started_at: row.get::<_, i64>("started_at")? / SECOND,
        heartbeat_at: row.get::<_, i64>("heartbeat_at")? / SECOND,
        claim_expires_at: row.get::<_, i64>("expires_at")? / SECOND,
        ended_at: seconds(row, "ended_at")?,
        outcome: row.get("outcome")?,
        summary: row.get("summary")?,
    })
}

pub(super) fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    let created_at = row.get::<_, i64>("created_at")? / SECOND;
    Ok(Comment { author: row.get("author")?, body: row.get("body")?, created_at })
}

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        kind: row.get("kind")?,
        by: row.get("actor")?,
        run_id: row.get("run")?,
        detail: row.get("detail")?,
        created_at: row.get::<_, i64>("created_at")? / SECOND,
    })
}

pub(super) fn attached(row: &Row<'_>, folder: &std::path::Path) -> rusqlite::Result<Attached> {
    let stored: String = row.get("stored")?;
    Ok(Attached {
        id: row.get("id")?,
        filename: row.get("name")?,
        content_type: row.get("media_type")?,
        size: u64::try_from(row.get::<_, i64>("size")?).unwrap_or_default(),
        path: folder.join(stored).to_string_lossy().into_owned(),
        source: row.get("source")?,
        attached_by: row.get("actor")?,
        created_at: row.get::<_, i64>("created_at")? / SECOND,
    })
}

fn seconds(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<i64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|micros| micros / SECOND))
}

fn word<T>(row: &Row<'_>, column: &str, known: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    known(&word).ok_or_else(|| {
        let why = format!("{column} is `{word}`, which this program does not know");
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
    })
}

impl Tx<'_> {
    /// The board of a name, if it is there.
    pub(super) fn board(&self, name: Option<&str>) -> Result<String, Wrong> {
        let name = name.unwrap_or(hermes_core::kanban::DEFAULT_BOARD);
        let there = "SELECT EXISTS (SELECT 1 FROM boards WHERE name = ?1)";
        if self.db.query_row(there, [name], |row| row.get(0))? {
            return Ok(name.to_owned());
        }
        let mut known = self.db.prepare_cached("SELECT name FROM boards ORDER BY name")?;
        let known = known.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Err(KanbanError::NoBoard { name: name.to_owned(), known }.into())
    }

    /// A task of a board.
    pub(super) fn task(&self, board: &str, id: &str) -> Result<Task, Wrong> {
        let mut found = self.db.prepare_cached(&format!("{TASKS} WHERE t.id = ?1 AND t.board = ?2"))?;
        let found = found.query_row((id.trim(), board), task).optional()?;
        found.ok_or_else(|| KanbanError::NoTask { id: id.trim().to_owned(), board: board.to_owned() }.into())
    }

    /// Writes down that something happened.
    pub(super) fn happened(
        &self,
        task: &str,
        run: Option<i64>,
        kind: &str,
        by: &str,
        detail: Option<&str>,
    ) -> Result<(), Wrong> {
        let new =
            "INSERT INTO events (task, run, kind, actor, detail, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.db.prepare_cached(new)?.execute((task, run, kind, by, detail, self.now))?;
        Ok(())
    }
}
