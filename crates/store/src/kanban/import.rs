//! Brings in the tasks of the original's `kanban.db`, which is only ever read.
//!
//! Columns are taken by name and may be missing, as older files have fewer. A task that is here already is
//! left as it is, so an import can be repeated: it brings what is new. Nobody works on a task that was
//! brought in: what ran there can be taken here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hermes_core::kanban::{Actor, BlockKind, KanbanError, NewAttachment, Status, TaskRef, WorkspaceKind};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params};
use serde::Serialize;

use super::db::{Boards, Tx, Wrong};
use super::rows::SECOND;
use crate::disk;

/// Most bytes of an attachment that are read.
const MOST: u64 = hermes_core::kanban::MAX_ATTACHMENT as u64;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportedTasks {
    /// Tasks that are new here.
    pub new_tasks: u64,
    /// Tasks that were here already.
    pub known_tasks: u64,
    /// Comments that came with the new ones.
    pub comments: u64,
    /// Files that came with the new ones.
    pub attachments: u64,
    /// Files that could not be brought: the task, the file, and why.
    pub left_out: Vec<(String, String, String)>,
}

/// A row, by the names of its columns.
struct Old(BTreeMap<String, Value>);

impl Old {
    fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::Text(text) if !text.is_empty() => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name)? {
            Value::Integer(number) => Some(*number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "seconds of some clock; a part of one is nothing"
            )]
            Value::Real(number) => Some(*number as i64),
            _ => None,
        }
    }

    /// A time in seconds, as one in microseconds.
    fn time(&self, name: &str) -> Option<i64> {
        self.number(name)?.checked_mul(SECOND)
    }
}

/// The file, whole.
struct Source {
    tasks: Vec<Old>,
    links: Vec<Old>,
    comments: Vec<Old>,
    events: Vec<Old>,
    runs: Vec<Old>,
    files: Vec<Old>,
}

impl Boards {
    /// Imports a `kanban.db` onto a board: all of its tasks or none. Files follow, each for itself.
    pub fn import(&self, path: &Path, board: Option<&str>, by: &Actor) -> Result<ImportedTasks, KanbanError> {
        let source = Source::read(path)
            .map_err(|wrong| KanbanError::Invalid(format!("cannot import {}: {wrong}", path.display())))?;
        let (mut done, new) = self.write(|tx| {
            let board = tx.board(board)?;
            let mut done = ImportedTasks::default();
            let mut new = BTreeSet::new();
            for old in &source.tasks {
                let Some(id) = old.text("id") else { continue };
                if is_there(tx, &id)? {
                    done.known_tasks += 1;
                    continue;
                }
                insert(tx, &board, &id, old, &source)?;
                tx.happened(&id, None, "imported", &by.name, None)?;
                done.new_tasks += 1;
                new.insert(id);
            }
            done.comments = beside(tx, &source, &new)?;
            Ok((done, new))
        })?;
        let root = disk::real(path.parent().unwrap_or(path));
        for file in
            source.files.iter().filter(|file| file.text("task_id").is_some_and(|id| new.contains(&id)))
        {
            match self.adopt(board, file, &root, by) {
                Ok(()) => done.attachments += 1,
                Err((task, name, why)) => done.left_out.push((task, name, why)),
            }
        }
        Ok(done)
    }

    /// Keeps a file of the original with its task. Only what lies beside the database is taken: a file from
    /// a stranger must not bring others along.
    fn adopt(
        &self,
        board: Option<&str>,
        file: &Old,
        root: &Path,
        by: &Actor,
    ) -> Result<(), (String, String, String)> {
        let (task, name) =
            (file.text("task_id").unwrap_or_default(), file.text("filename").unwrap_or_default());
        let lost = |why: String| (task.clone(), name.clone(), why);
        let path = file.text("stored_path").ok_or_else(|| lost("it says no place".to_owned()))?;
        let real = disk::real(Path::new(&path));
        if !real.starts_with(root) {
            return Err(lost(format!("{path} does not lie below {}", root.display())));
        }
        let bytes = disk::read_bytes(&real, MOST).map_err(|wrong| lost(wrong.to_string()))?;
        let bytes = bytes.ok_or_else(|| lost(format!("{path} is not there")))?;
        let to = TaskRef { board: board.map(str::to_owned), id: task.clone() };
        let new =
            NewAttachment { name: name.clone(), media_type: file.text("content_type"), source: None, bytes };
        self.attach(&to, &new, by).map(drop).map_err(|wrong| lost(wrong.to_string()))
    }
}

impl Source {
    fn read(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(path, flags)?;
        // One moment of a file that somebody may be writing to.
        from.execute_batch("BEGIN")?;
        Ok(Self {
            tasks: rows(&from, "tasks", "created_at, id")?,
            links: there(&from, "task_links", "parent_id, child_id")?,
            comments: there(&from, "task_comments", "id")?,
            events: there(&from, "task_events", "id")?,
            runs: there(&from, "task_runs", "id")?,
            files: there(&from, "task_attachments", "id")?,
        })
    }

    /// Why a task was blocked, as far as that was written down.
    fn block_reason(&self, task: &str) -> Option<String> {
        let of = |event: &&Old| {
            event.text("task_id").as_deref() == Some(task) && event.text("kind").as_deref() == Some("blocked")
        };
        let payload = self.events.iter().rev().find(of)?.text("payload")?;
        let payload: serde_json::Value = serde_json::from_str(&payload).ok()?;
        payload.get("reason")?.as_str().map(str::to_owned)
    }
}

/// The rows of a table that an older file may not have.
fn there(from: &Connection, table: &str, order: &str) -> rusqlite::Result<Vec<Old>> {
    let known = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1";
    let known: i64 = from.query_row(known, [table], |row| row.get(0))?;
    if known == 0 { Ok(Vec::new()) } else { rows(from, table, order) }
}

fn rows(from: &Connection, table: &str, order: &str) -> rusqlite::Result<Vec<Old>> {
    let mut list = from.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
    let names: Vec<String> = list.column_names().iter().map(|name| (*name).to_owned()).collect();
    let read = list.query_map([], |row| {
        let cells = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get::<_, Value>(at)?)));
        Ok(Old(cells.collect::<rusqlite::Result<_>>()?))
    })?;
    read.collect()
}

fn is_there(tx: &Tx<'_>, id: &str) -> Result<bool, Wrong> {
    let found = "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1)";
    Ok(tx.db.prepare_cached(found)?.query_row([id], |row| row.get(0))?)
}

/// Where a task stands here.
fn status(word: &str) -> Status {
    match word {
        // Nobody here works on it.
        "running" => Status::Ready,
        // Somebody has to look at it.
        "review" => Status::Blocked,
        word => Status::from_word(word).unwrap_or(Status::Triage),
    }
}

fn insert(tx: &Tx<'_>, board: &str, id: &str, old: &Old, source: &Source) -> Result<(), Wrong> {
    let word = old.text("status").unwrap_or_default();
    let status = status(&word);
    let kind = old.text("block_kind").as_deref().and_then(BlockKind::from_word);
    let blocked = (status == Status::Blocked).then(|| {
        let why = source.block_reason(id).or_else(|| old.text("last_failure_error"));
        why.unwrap_or_else(|| format!("it was `{word}` when it was brought in"))
    });
    let workspace = old.text("workspace_kind").as_deref().and_then(WorkspaceKind::from_word);
    let skills = old.text("skills").and_then(|text| serde_json::from_str::<Vec<String>>(&text).ok());
    let key = old.text("idempotency_key");
    let taken = "SELECT EXISTS (SELECT 1 FROM tasks WHERE board = ?1 AND idempotency_key = ?2 AND status <> 'archived')";
    let taken: bool = tx.db.prepare_cached(taken)?.query_row((board, &key), |row| row.get(0))?;
    let new = "INSERT INTO tasks (id, board, title, body, status, assignee, priority, tenant, workspace_kind, \
               workspace_path, project, idempotency_key, max_runtime, skills, goal_mode, goal_max_turns, \
               created_by, created_in, created_at, started_at, completed_at, result, block_kind, block_reason, \
               failures) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
               ?19, ?20, ?21, ?22, ?23, ?24, ?25)";
    tx.db.prepare_cached(new)?.execute(params![
        id,
        board,
        old.text("title").unwrap_or_else(|| id.to_owned()),
        old.text("body"),
        status.word(),
        old.text("assignee"),
        old.number("priority").unwrap_or_default(),
        old.text("tenant"),
        workspace.unwrap_or_default().word(),
        old.text("workspace_path"),
        old.text("project_id"),
        key.filter(|_| !taken),
        old.time("max_runtime_seconds"),
        serde_json::to_string(&skills.unwrap_or_default()).unwrap_or_else(|_| "[]".to_owned()),
        old.number("goal_mode").unwrap_or_default() != 0,
        old.number("goal_max_turns"),
        old.text("created_by").unwrap_or_else(|| "unknown".to_owned()),
        old.text("session_id"),
        old.time("created_at").unwrap_or(tx.now),
        old.time("started_at"),
        old.time("completed_at"),
        old.text("result"),
        kind.filter(|_| blocked.is_some()).map(BlockKind::word),
        blocked,
        old.number("consecutive_failures").unwrap_or_default(),
    ])?;
    Ok(())
}

/// What belongs to the new tasks: what they wait for, what was said of them, and who worked on them.
fn beside(tx: &Tx<'_>, source: &Source, new: &BTreeSet<String>) -> Result<u64, Wrong> {
    for link in &source.links {
        let (Some(parent), Some(child)) = (link.text("parent_id"), link.text("child_id")) else { continue };
        let ours = new.contains(&parent) || new.contains(&child);
        if ours && is_there(tx, &parent)? && is_there(tx, &child)? {
            let sql = "INSERT OR IGNORE INTO links (parent, child) VALUES (?1, ?2)";
            tx.db.prepare_cached(sql)?.execute((&parent, &child))?;
        }
    }
    let of_new = |rows: &'_ [Old]| -> Vec<(String, usize)> {
        let owned = rows.iter().enumerate().filter_map(|(at, row)| Some((row.text("task_id")?, at)));
        owned.filter(|(task, _)| new.contains(task)).collect()
    };
    let mut comments = 0;
    for (task, at) in of_new(&source.comments) {
        let Some(old) = source.comments.get(at) else { continue };
        let sql = "INSERT INTO comments (task, author, body, created_at) VALUES (?1, ?2, ?3, ?4)";
        let author = old.text("author").unwrap_or_else(|| "unknown".to_owned());
        let at = old.time("created_at").unwrap_or(tx.now);
        tx.db.prepare_cached(sql)?.execute((task, author, old.text("body").unwrap_or_default(), at))?;
        comments += 1;
    }
    for (task, at) in of_new(&source.events) {
        let Some(old) = source.events.get(at) else { continue };
        let sql =
            "INSERT INTO events (task, kind, actor, detail, created_at) VALUES (?1, ?2, 'hermes', ?3, ?4)";
        let kind = old.text("kind").unwrap_or_else(|| "unknown".to_owned());
        let at = old.time("created_at").unwrap_or(tx.now);
        tx.db.prepare_cached(sql)?.execute((task, kind, old.text("payload"), at))?;
    }
    for (task, at) in of_new(&source.runs) {
        let Some(old) = source.runs.get(at) else { continue };
        run(tx, &task, old)?;
    }
    Ok(comments)
}

/// An attempt; one that still went on is over here.
fn run(tx: &Tx<'_>, task: &str, old: &Old) -> Result<(), Wrong> {
    let began = old.time("started_at").unwrap_or(tx.now);
    let heard = old.time("last_heartbeat_at").unwrap_or(began);
    let ended = old.time("ended_at").unwrap_or(heard);
    let sql = "INSERT INTO runs (task, profile, ttl, started_at, heartbeat_at, expires_at, ended_at, outcome, summary) \
               VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8)";
    tx.db.prepare_cached(sql)?.execute(params![
        task,
        old.text("profile").unwrap_or_else(|| "unknown".to_owned()),
        began,
        heard,
        old.time("claim_expires").unwrap_or(heard),
        ended,
        old.text("outcome").unwrap_or_else(|| "reclaimed".to_owned()),
        old.text("summary").or_else(|| old.text("error")),
    ])?;
    Ok(())
}
