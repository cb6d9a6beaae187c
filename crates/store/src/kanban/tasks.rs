//! Making tasks, finding them, and the boards they are on.

use hermes_core::kanban::{
    Actor, Begin, BoardRow, Created, DEFAULT_BOARD, Filter, Hand, KanbanError, NewTask, Status, Task,
    TaskRef, TaskView, WorkspaceKind,
};
use rusqlite::{OptionalExtension as _, named_params};

use super::db::{Boards, Tx, Wrong};
use super::links;
use super::moves::{name, needed, optional};
use super::rows::{self, SECOND, TASKS};

/// Longest title, in characters.
const MAX_TITLE: usize = 500;
/// Most tasks that one waits for, and most skills, when it is made.
const MAX_PARENTS: usize = 100;
const MAX_SKILLS: usize = 50;
/// Events that are shown.
const EVENTS: i64 = 100;
/// How many ids are tried for a new task.
const TRIES: u32 = 20;

impl Boards {
    /// Makes a task, or finds the one that was made with the same key.
    pub fn create(&self, board: Option<&str>, new: &NewTask, by: &Actor) -> Result<Created, KanbanError> {
        self.write(|tx| {
            let board = tx.board(board)?;
            check(new)?;
            if let Some(task) = made_before(tx, &board, new)? {
                return Ok(Created { task, new: false });
            }
            let parents: Vec<Task> =
                new.parents.iter().map(|id| tx.task(&board, id)).collect::<Result<_, _>>()?;
            let id = insert(tx, &board, new, by)?;
            let task = tx.task(&board, &id)?;
            for parent in &parents {
                links::join(tx, parent, &task)?;
            }
            tx.happened(&id, None, "created", &by.name, None)?;
            links::settle(tx, &board, &id, &by.name)?;
            Ok(Created { task: tx.task(&board, &id)?, new: true })
        })
    }

    /// The tasks that fit, the most urgent first.
    pub fn list(&self, board: Option<&str>, filter: &Filter) -> Result<Vec<Task>, KanbanError> {
        self.read(|tx| {
            let board = tx.board(board)?;
            let text = format!(
                "{TASKS} WHERE t.board = :board AND (:assignee IS NULL OR t.assignee = :assignee) \
                 AND (:tenant IS NULL OR t.tenant = :tenant) \
                 AND CASE WHEN :status IS NULL THEN (:archived OR t.status <> 'archived') \
                     ELSE t.status = :status END \
                 ORDER BY t.priority DESC, t.created_at, t.id LIMIT :limit"
            );
            let mut found = tx.db.prepare_cached(&text)?;
            let found = found.query_map(
                named_params! {
                    ":board": board,
                    ":assignee": filter.assignee,
                    ":tenant": filter.tenant,
                    ":status": filter.status.map(Status::word),
                    ":archived": filter.archived,
                    ":limit": i64::try_from(filter.limit).unwrap_or(i64::MAX),
                },
                rows::task,
            )?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// All that is known of a task.
    pub fn show(&self, of: &TaskRef) -> Result<TaskView, KanbanError> {
        self.read(|tx| {
            let board = tx.board(of.board.as_deref())?;
            let task = tx.task(&board, &of.id)?;
            let id = task.id.as_str();
            let mut comments = tx.db.prepare_cached("SELECT * FROM comments WHERE task = ?1 ORDER BY id")?;
            let mut events = tx.db.prepare_cached(
                "SELECT * FROM (SELECT * FROM events WHERE task = ?1 ORDER BY id DESC LIMIT ?2) ORDER BY id",
            )?;
            let mut runs = tx.db.prepare_cached("SELECT * FROM runs WHERE task = ?1 ORDER BY id")?;
            Ok(TaskView {
                parents: links::beside(tx, id, true)?,
                children: links::beside(tx, id, false)?,
                comments: comments.query_map([id], rows::comment)?.collect::<Result<_, _>>()?,
                events: events.query_map((id, EVENTS), rows::event)?.collect::<Result<_, _>>()?,
                runs: runs.query_map([id], rows::run)?.collect::<Result<_, _>>()?,
                attachments: super::attachments::of(tx, id)?,
                task,
            })
        })
    }

    /// The boards, with how many tasks each has.
    pub fn boards(&self) -> Result<Vec<BoardRow>, KanbanError> {
        self.read(|tx| {
            let mut boards = tx.db.prepare_cached("SELECT name, title FROM boards ORDER BY name")?;
            let boards: Vec<(String, Option<String>)> =
                boards.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            let mut count =
                tx.db.prepare_cached("SELECT count(*) FROM tasks WHERE board = ?1 AND status = ?2")?;
            let mut all = Vec::new();
            for (name, title) in boards {
                let mut tasks = Vec::new();
                for status in Status::ALL.iter().filter(|status| **status != Status::Archived) {
                    let there: i64 = count.query_row((&name, status.word()), |row| row.get(0))?;
                    if there > 0 {
                        tasks.push((*status, there));
                    }
                }
                all.push(BoardRow { name, title, tasks });
            }
            Ok(all)
        })
    }

    /// Makes a board; says whether it is new.
    pub fn make_board(&self, name: &str, title: Option<&str>) -> Result<bool, KanbanError> {
        self.write(|tx| {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            let sound = name.len() <= 64
                && name.starts_with(plain)
                && name.chars().all(|c| plain(c) || matches!(c, '-' | '_'));
            if !sound {
                let why = format!("`{name}` is not a name of a board: use a-z, 0-9, `-` and `_`, at most 64");
                return Err(KanbanError::Invalid(why).into());
            }
            let title = optional(title, "title")?;
            let new = "INSERT OR IGNORE INTO boards (name, title, created_at) VALUES (?1, ?2, ?3)";
            Ok(tx.db.execute(new, (name, title, tx.now))? == 1)
        })
    }

    /// Takes a board away that has no tasks.
    pub fn remove_board(&self, name: &str) -> Result<(), KanbanError> {
        self.write(|tx| {
            let name = tx.board(Some(name))?;
            let tasks: i64 =
                tx.db.query_row("SELECT count(*) FROM tasks WHERE board = ?1", [&name], |row| row.get(0))?;
            if name == DEFAULT_BOARD || tasks > 0 {
                let why = format!(
                    "the board `{name}` cannot be removed: it has {tasks} tasks, or is the usual one"
                );
                return Err(KanbanError::Invalid(why).into());
            }
            tx.db.execute("DELETE FROM boards WHERE name = ?1", [&name])?;
            Ok(())
        })
    }
}

/// What must be true of a new task.
fn check(new: &NewTask) -> Result<(), Wrong> {
    let invalid = |why: String| Err(KanbanError::Invalid(why).into());
    let title = needed(&new.title, "title")?;
    if title.chars().count() > MAX_TITLE || title.contains('\n') {
        return invalid(format!(
            "title: one line of at most {MAX_TITLE} characters; the rest belongs in body"
        ));
    }
    optional(new.body.as_deref(), "body")?;
    for text in [&new.assignee, &new.tenant, &new.project, &new.idempotency_key] {
        name(text.as_deref())?;
    }
    if new.parents.len() > MAX_PARENTS {
        return invalid(format!("parents: {MAX_PARENTS} are the most"));
    }
    if new.skills.len() > MAX_SKILLS {
        return invalid(format!("skills: {MAX_SKILLS} are the most"));
    }
    match (new.workspace, &new.workspace_path) {
        (WorkspaceKind::Dir, None) => invalid("workspace_kind dir needs workspace_path".to_owned()),
        (WorkspaceKind::Scratch, Some(_)) => {
            invalid("a scratch workspace has no path of its own; use workspace_kind dir".to_owned())
        }
        (_, Some(path)) if !path.is_absolute() => {
            invalid(format!("workspace_path: {} is not absolute", path.display()))
        }
        _ => Ok(()),
    }
}

fn made_before(tx: &Tx<'_>, board: &str, new: &NewTask) -> Result<Option<Task>, Wrong> {
    let Some(key) = name(new.idempotency_key.as_deref())? else { return Ok(None) };
    let text = format!("{TASKS} WHERE t.board = ?1 AND t.idempotency_key = ?2 AND t.status <> 'archived'");
    Ok(tx.db.prepare_cached(&text)?.query_row((board, key), rows::task).optional()?)
}

fn insert(tx: &Tx<'_>, board: &str, new: &NewTask, by: &Actor) -> Result<String, Wrong> {
    let status = match new.begin {
        Begin::Open => Status::Ready,
        Begin::Triage => Status::Triage,
        Begin::Blocked => Status::Blocked,
    };
    let created_in = match &by.hand {
        Hand::Agent { task, .. } => task.as_deref(),
        Hand::Person => None,
    };
    let skills = serde_json::to_string(&new.skills).unwrap_or_default();
    let max_runtime = new.max_runtime.map(|most| i64::try_from(most.as_secs()).unwrap_or(i64::MAX / SECOND));
    let mut insert = tx.db.prepare_cached(
        "INSERT OR IGNORE INTO tasks (id, board, title, body, status, assignee, priority, tenant, \
         workspace_kind, workspace_path, project, idempotency_key, max_runtime, skills, goal_mode, \
         goal_max_turns, created_by, created_in, created_at) \
         VALUES (:id, :board, :title, :body, :status, :assignee, :priority, :tenant, :workspace_kind, \
         :workspace_path, :project, :key, :max_runtime, :skills, :goal_mode, :goal_max_turns, :by, \
         :created_in, :now)",
    )?;
    for _ in 0..TRIES {
        let id: String = tx.db.query_row("SELECT 't_' || lower(hex(randomblob(4)))", [], |row| row.get(0))?;
        let made = insert.execute(named_params! {
            ":id": id,
            ":board": board,
            ":title": new.title.trim(),
            ":body": optional(new.body.as_deref(), "body")?,
            ":status": status.word(),
            ":assignee": name(new.assignee.as_deref())?,
            ":priority": new.priority,
            ":tenant": name(new.tenant.as_deref())?,
            ":workspace_kind": new.workspace.word(),
            ":workspace_path": new.workspace_path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            ":project": name(new.project.as_deref())?,
            ":key": name(new.idempotency_key.as_deref())?,
            ":max_runtime": max_runtime.map(|most| most.max(1).saturating_mul(SECOND)),
            ":skills": skills,
            ":goal_mode": new.goal.is_some(),
            ":goal_max_turns": new.goal.flatten(),
            ":by": by.name,
            ":created_in": created_in,
            ":now": tx.now,
        })?;
        if made == 1 {
            return Ok(id);
        }
    }
    Err(KanbanError::Store("no free id was found for a new task".to_owned()).into())
}
