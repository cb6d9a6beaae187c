//! All that moves a task, and what has to be true before it does.

use hermes_core::kanban::{
    Act, Acted, Actor, BlockKind, CLAIM, Completion, Hand, KanbanError, Status, Task, TaskRef,
};
use serde_json::{Map, Value};

use super::db::{Boards, Tx, Wrong};
use super::{claims, links};

/// Longest text that is kept of a comment, a summary, a result or a reason, in characters.
pub(super) const MAX_TEXT: usize = 100_000;
/// Longest metadata, as JSON text.
const MAX_METADATA: usize = 100_000;
/// Longest name of a profile.
pub(super) const MAX_NAME: usize = 100;

impl Boards {
    /// Does something with a task.
    pub fn act(&self, of: &TaskRef, what: &Act, by: &Actor) -> Result<Acted, KanbanError> {
        self.write(|tx| {
            let board = tx.board(of.board.as_deref())?;
            let task = tx.task(&board, &of.id)?;
            let step = Step { tx, task: &task, by };
            let (run, note) = match what {
                Act::Claim(ttl) => (Some(step.claim(*ttl)?), None),
                Act::Heartbeat(note) => (Some(step.heartbeat(note.as_deref())?), None),
                Act::Complete(done) => (task.run_id, step.complete(done)?),
                Act::Block(kind, reason) => (task.run_id, step.block(*kind, reason)?),
                Act::Unblock => (None, step.unblock()?),
                Act::Promote => (None, step.promote()?),
                Act::Reclaim(reason) => (task.run_id, step.reclaim(reason.as_deref())?),
                Act::Archive => (None, step.archive()?),
                Act::Assign(to) => (None, step.assign(to.as_deref())?),
                Act::Comment(body) => (task.run_id, step.comment(body)?),
            };
            let took = matches!(what, Act::Claim(_) | Act::Heartbeat(_)) && run != task.run_id;
            Ok(Acted { task: tx.task(&board, &task.id)?, run, took, note })
        })
    }
}

/// One step of one task.
struct Step<'a> {
    tx: &'a Tx<'a>,
    task: &'a Task,
    by: &'a Actor,
}

/// What else there is to know.
type Note = Result<Option<String>, Wrong>;

impl Step<'_> {
    fn claim(&self, ttl: std::time::Duration) -> Result<i64, Wrong> {
        match self.task.status {
            Status::Ready => claims::take(self.tx, self.task, ttl, self.by),
            Status::Running => {
                // Who has it already does not need to take it, and nobody else can.
                let stranger = Actor {
                    name: self.by.name.clone(),
                    hand: Hand::Agent { session: String::new(), run: None, task: None },
                };
                claims::may_touch(self.tx, self.task, &stranger)?;
                Err(self.refused("taken", "somebody works on it"))
            }
            _ => Err(self.refused("taken", self.way_on())),
        }
    }

    fn heartbeat(&self, note: Option<&str>) -> Result<i64, Wrong> {
        let note = optional(note, "note")?;
        claims::may_touch(self.tx, self.task, self.by)?;
        let run = match (self.task.status, self.task.run_id) {
            (Status::Running, Some(run)) => {
                claims::keep_alive(self.tx, self.task, run)?;
                run
            }
            (Status::Ready, _) => claims::take(self.tx, self.task, CLAIM, self.by)?,
            _ => return Err(self.refused("worked on", self.way_on())),
        };
        if let Some(note) = note {
            self.event(Some(run), "heartbeat", Some(note))?;
        }
        Ok(run)
    }

    fn complete(&self, done: &Completion) -> Note {
        let Completion { summary, result, metadata, created } = done;
        let (summary, result) =
            (optional(summary.as_deref(), "summary")?, optional(result.as_deref(), "result")?);
        claims::may_touch(self.tx, self.task, self.by)?;
        if !matches!(self.task.status, Status::Ready | Status::Running | Status::Blocked) {
            return Err(self.refused("completed", self.way_on()));
        }
        if summary.is_none() && result.is_none() && self.by.hand != Hand::Person {
            return Err(invalid("say what was done: a summary or a result is needed"));
        }
        self.check_created(created)?;
        let mut facts = metadata.clone();
        if !created.is_empty() {
            facts.insert("created_cards".to_owned(), created.iter().cloned().map(Value::from).collect());
        }
        let facts = as_json(&facts)?;
        claims::end_run(self.tx, self.task, "completed", summary.or(result))?;
        let moved = "UPDATE tasks SET status = 'done', completed_at = ?2, summary = ?3, result = ?4, \
                     metadata = ?5, failures = 0, block_kind = NULL, block_reason = NULL WHERE id = ?1";
        self.tx.db.prepare_cached(moved)?.execute((&self.task.id, self.tx.now, summary, result, facts))?;
        self.event(self.task.run_id, "completed", summary)?;
        links::settle_children(self.tx, &self.task.board, &self.task.id, &self.by.name)?;
        Ok(None)
    }

    /// Tasks that somebody says they made must be there, and theirs.
    fn check_created(&self, created: &[String]) -> Result<(), Wrong> {
        let theirs = "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND board = ?2 AND id <> ?3 AND \
                      (created_in = ?3 OR created_by = ?4))";
        let mut theirs = self.tx.db.prepare_cached(theirs)?;
        let mut wrong = Vec::new();
        for id in created {
            let known = (id.as_str(), &self.task.board, &self.task.id, &self.by.name);
            if !theirs.query_row(known, |row| row.get::<_, bool>(0))? {
                wrong.push(format!("`{id}`"));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let why = format!(
            "nothing was completed: {} in created_cards {} not made here; give only ids that were returned \
             when tasks were created",
            wrong.join(", "),
            if wrong.len() == 1 { "was" } else { "were" }
        );
        Err(KanbanError::Invalid(why).into())
    }

    fn block(&self, kind: Option<BlockKind>, reason: &str) -> Note {
        let reason = needed(reason, "reason")?;
        claims::may_touch(self.tx, self.task, self.by)?;
        if !matches!(self.task.status, Status::Ready | Status::Running | Status::Todo) {
            return Err(self.refused("blocked", self.way_on()));
        }
        let waits_for = match kind {
            Some(BlockKind::Dependency) => links::unfinished(self.tx, &self.task.id)?,
            _ => Vec::new(),
        };
        let (to, note) = match (kind, waits_for.as_slice()) {
            (Some(BlockKind::Dependency), []) => {
                let note = "it waits for no unfinished task, so somebody has to unblock it";
                (Status::Blocked, Some(note.to_owned()))
            }
            (_, []) => (Status::Blocked, None),
            (_, ids) => {
                (Status::Todo, Some(format!("it goes on by itself when {} are done", ids.join(", "))))
            }
        };
        claims::end_run(self.tx, self.task, "blocked", Some(reason))?;
        let moved = "UPDATE tasks SET status = ?2, block_kind = ?3, block_reason = ?4 WHERE id = ?1";
        self.tx.db.prepare_cached(moved)?.execute((
            &self.task.id,
            to.word(),
            kind.map(BlockKind::word),
            reason,
        ))?;
        self.event(self.task.run_id, "blocked", Some(reason))?;
        Ok(note)
    }

    fn unblock(&self) -> Note {
        if self.task.status != Status::Blocked {
            return Err(self.refused("unblocked", self.way_on()));
        }
        claims::may_touch(self.tx, self.task, self.by)?;
        self.open("unblocked")
    }

    fn promote(&self) -> Note {
        if self.task.status != Status::Triage {
            return Err(self.refused("promoted", self.way_on()));
        }
        claims::may_touch(self.tx, self.task, self.by)?;
        self.open("promoted")
    }

    fn reclaim(&self, reason: Option<&str>) -> Note {
        let reason = optional(reason, "reason")?;
        if self.task.status != Status::Running {
            return Err(self.refused("taken back", self.way_on()));
        }
        claims::may_touch(self.tx, self.task, self.by)?;
        claims::end_run(self.tx, self.task, "reclaimed", reason)?;
        self.open("reclaimed")
    }

    /// It can be taken, as soon as nothing has to be done before it.
    fn open(&self, kind: &str) -> Note {
        let moved = "UPDATE tasks SET status = 'ready', failures = 0, block_kind = NULL, block_reason = NULL \
                     WHERE id = ?1";
        self.tx.db.prepare_cached(moved)?.execute([&self.task.id])?;
        self.event(self.task.run_id, kind, None)?;
        links::settle(self.tx, &self.task.board, &self.task.id, &self.by.name)?;
        Ok(None)
    }

    fn archive(&self) -> Note {
        if matches!(self.task.status, Status::Running | Status::Archived) {
            return Err(self.refused("put away", self.way_on()));
        }
        claims::may_touch(self.tx, self.task, self.by)?;
        self.tx
            .db
            .prepare_cached("UPDATE tasks SET status = 'archived' WHERE id = ?1")?
            .execute([&self.task.id])?;
        self.event(None, "archived", None)?;
        links::settle_children(self.tx, &self.task.board, &self.task.id, &self.by.name)?;
        Ok(None)
    }

    fn assign(&self, to: Option<&str>) -> Note {
        let to = name(to)?;
        if matches!(self.task.status, Status::Running | Status::Done | Status::Archived) {
            return Err(self.refused("given to somebody else", self.way_on()));
        }
        claims::may_touch(self.tx, self.task, self.by)?;
        self.tx
            .db
            .prepare_cached("UPDATE tasks SET assignee = ?2 WHERE id = ?1")?
            .execute((&self.task.id, to))?;
        self.event(None, "assigned", Some(to.unwrap_or("nobody")))?;
        Ok(None)
    }

    fn comment(&self, body: &str) -> Note {
        let body = needed(body, "comment")?;
        let new = "INSERT INTO comments (task, author, body, created_at) VALUES (?1, ?2, ?3, ?4)";
        self.tx.db.prepare_cached(new)?.execute((&self.task.id, &self.by.name, body, self.tx.now))?;
        self.event(self.task.run_id, "commented", None)?;
        Ok(None)
    }

    fn event(&self, run: Option<i64>, kind: &str, detail: Option<&str>) -> Result<(), Wrong> {
        self.tx.happened(&self.task.id, run, kind, &self.by.name, detail)
    }

    fn refused(&self, doing: &'static str, hint: impl Into<String>) -> Wrong {
        let (id, status) = (self.task.id.clone(), self.task.status);
        KanbanError::Status { id, status, doing, hint: hint.into() }.into()
    }

    /// What can be done with a task that stands where it stands.
    fn way_on(&self) -> &'static str {
        match self.task.status {
            Status::Triage => "somebody has to promote it first",
            Status::Todo => "the tasks it waits for have to be done first",
            Status::Ready => "nobody works on it, and nothing stands in its way",
            Status::Running => "whoever works on it has to complete or block it, or it has to be taken back",
            Status::Blocked => "it has to be unblocked first",
            Status::Done => "make a new task for what is left to do",
            Status::Archived => "it was put away; make a new task",
        }
    }
}

fn invalid(why: impl Into<String>) -> Wrong {
    KanbanError::Invalid(why.into()).into()
}

/// A text that says something, if there is one.
pub(super) fn optional<'a>(text: Option<&'a str>, what: &str) -> Result<Option<&'a str>, Wrong> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    match text {
        Some(text) if text.chars().count() > MAX_TEXT => {
            Err(invalid(format!("{what}: {MAX_TEXT} characters are the most; attach longer texts as files")))
        }
        text => Ok(text),
    }
}

/// A text that must say something.
pub(super) fn needed<'a>(text: &'a str, what: &str) -> Result<&'a str, Wrong> {
    optional(Some(text), what)?.ok_or_else(|| invalid(format!("{what}: there is none")))
}

/// The name of a profile, if there is one.
pub(super) fn name(name: Option<&str>) -> Result<Option<&str>, Wrong> {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    if name.is_some_and(|name| name.chars().count() > MAX_NAME || name.chars().any(char::is_control)) {
        return Err(invalid(format!("a name is one line of at most {MAX_NAME} characters")));
    }
    Ok(name)
}

fn as_json(facts: &Map<String, Value>) -> Result<String, Wrong> {
    let text = serde_json::to_string(facts).map_err(|why| invalid(format!("metadata: {why}")))?;
    if text.len() > MAX_METADATA {
        return Err(invalid(format!("metadata: {MAX_METADATA} bytes are the most; attach more as a file")));
    }
    Ok(text)
}
