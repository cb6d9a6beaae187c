//! `kanban_create`: a new task for somebody.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::host;
use hermes_core::kanban::{self as board, Begin, NewTask};
use hermes_core::project::Projects;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kanban::{Desk, SLOT, for_workers, refused, said};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanCreate>("kanban_create", &kanban::TOOLSET).emoji("➕").gate(for_workers);

/// Put a task on the board for a profile to do: one piece of work with a result of its own, described so
/// that somebody who knows nothing of this conversation can do it. It waits until its parents are done and
/// then gets their results. Returns the `task_id`.
#[derive(Deserialize, JsonSchema)]
struct KanbanCreate {
    /// What is to be done, in one line
    title: String,
    /// The profile that is to do it
    assignee: String,
    /// What is to be done in full: goal, where things are, what the result must have
    body: Option<String>,
    /// Ids of tasks that have to be done first
    parents: Option<Vec<String>>,
    /// Whose work it is, to keep the work of several apart
    tenant: Option<String>,
    /// Higher is done first (0 if left out)
    priority: Option<i64>,
    /// Where it is done: scratch (an empty folder), dir (the folder in `workspace_path`), worktree (of a repository)
    workspace_kind: Option<WorkspaceKind>,
    /// Absolute path of the folder, for dir and worktree
    workspace_path: Option<String>,
    /// The project it belongs to
    project: Option<String>,
    /// Put it where a person looks at it first, before anybody works on it
    triage: Option<bool>,
    /// A second task with the same key is not made; the first is returned
    idempotency_key: Option<String>,
    /// An attempt is over after this time
    max_runtime_seconds: Option<i64>,
    /// blocked: it waits until somebody unblocks it; running: it is worked on as soon as it can be
    initial_status: Option<InitialStatus>,
    /// Names of skills that the worker begins with
    skills: Option<Vec<String>>,
    /// Work on it turn after turn until a judge finds the goal reached
    goal_mode: Option<bool>,
    /// Most turns of `goal_mode`
    goal_max_turns: Option<i64>,
    /// The board, if not the usual one
    board: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WorkspaceKind {
    Scratch,
    Dir,
    Worktree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InitialStatus {
    Running,
    Blocked,
}

impl Tool for KanbanCreate {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(mut self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board.take())?;
        let mut new = self.task()?;
        new.tenant = new.tenant.or_else(|| desk.tenant.clone());
        if let Some(named) = new.project.take() {
            new.project = Some(known_project(cx, named).await?);
        }
        let created = desk.kanban.create(desk.board.clone(), new, desk.by.clone()).await.map_err(refused)?;
        Ok(json!({
            "ok": true,
            "task_id": created.task.id,
            "status": created.task.status,
            "assignee": created.task.assignee,
            "created": created.new,
        }))
    }
}

impl KanbanCreate {
    fn task(self) -> Result<NewTask, ToolError> {
        let wrong = |why: &str| ToolError::Arguments(why.to_owned());
        let begin = match (self.triage.unwrap_or_default(), self.initial_status) {
            (true, Some(InitialStatus::Blocked)) => {
                return Err(wrong("triage and initial_status blocked exclude each other"));
            }
            (true, _) => Begin::Triage,
            (false, Some(InitialStatus::Blocked)) => Begin::Blocked,
            (false, _) => Begin::Open,
        };
        let assignee = said(Some(self.assignee));
        if assignee.is_none() {
            return Err(wrong("assignee: the profile that is to do it is needed"));
        }
        let max_runtime = match self.max_runtime_seconds {
            Some(seconds) => {
                let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                Some(Duration::from_secs(seconds.ok_or_else(|| wrong("max_runtime_seconds: at least 1"))?))
            }
            None => None,
        };
        let turns = match self.goal_max_turns {
            Some(turns) => {
                let turns = u32::try_from(turns).ok().filter(|turns| *turns > 0);
                Some(turns.ok_or_else(|| wrong("goal_max_turns: at least 1"))?)
            }
            None => None,
        };
        let workspace = self.workspace_kind.map_or_else(Default::default, |kind| match kind {
            WorkspaceKind::Scratch => board::WorkspaceKind::Scratch,
            WorkspaceKind::Dir => board::WorkspaceKind::Dir,
            WorkspaceKind::Worktree => board::WorkspaceKind::Worktree,
        });
        Ok(NewTask {
            title: self.title,
            body: self.body,
            assignee,
            parents: self.parents.unwrap_or_default(),
            tenant: said(self.tenant),
            priority: self.priority.unwrap_or_default(),
            workspace,
            workspace_path: said(self.workspace_path).map(PathBuf::from),
            project: said(self.project),
            idempotency_key: said(self.idempotency_key),
            max_runtime,
            skills: self.skills.unwrap_or_default(),
            goal: self.goal_mode.unwrap_or_default().then_some(turns),
            begin,
        })
    }
}

/// The project's own name for what it was called.
async fn known_project(cx: &ToolCx, named: String) -> Result<String, ToolError> {
    let Some(projects) = cx.service::<Arc<dyn Projects>>().cloned() else { return Ok(named) };
    let found = host::blocking(cx.host(), move || projects.find(&named)).await?;
    found.map(|project| project.name).map_err(|why| ToolError::Arguments(why.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn task(arguments: Value) -> Result<NewTask, ToolError> {
        KanbanCreate::deserialize(arguments).unwrap().task()
    }

    #[test]
    fn a_task_begins_where_it_was_said() {
        let with = |more: Value| {
            let mut arguments = json!({ "title": "x", "assignee": "coder" });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            task(arguments).map(|task| task.begin)
        };

        assert_eq!(with(json!({})), Ok(Begin::Open));
        assert_eq!(with(json!({ "initial_status": "running" })), Ok(Begin::Open));
        assert_eq!(with(json!({ "initial_status": "blocked" })), Ok(Begin::Blocked));
        assert_eq!(with(json!({ "triage": true })), Ok(Begin::Triage));
        assert!(with(json!({ "triage": true, "initial_status": "blocked" })).is_err());
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for bad in [
            json!({ "title": "x", "assignee": " " }),
            json!({ "title": "x", "assignee": "a", "max_runtime_seconds": 0 }),
            json!({ "title": "x", "assignee": "a", "goal_mode": true, "goal_max_turns": -1 }),
        ] {
            assert!(task(bad.clone()).is_err(), "{bad}");
        }
        let goal = task(json!({ "title": "x", "assignee": "a", "goal_mode": true, "goal_max_turns": 5 }));
        assert_eq!(goal.unwrap().goal, Some(Some(5)));
    }
}
