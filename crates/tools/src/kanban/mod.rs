//! What the tools of the task board share: when they are there, who asks, and how answers are told.
//!
//! - here: gates, the desk at which a call stands
//! - [`context`]: all that a worker has to read before it begins, as one text

pub(crate) mod context;

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::gate::{Gate, Probe};
use hermes_core::kanban::{Act, Acted, Actor, Hand, Kanban, KanbanError, TaskRef};
use serde_json::{Value, json};

/// The board's name among the effects of a call.
pub(crate) const SLOT: &str = "kanban";

/// The variable that names the task a worker was started for.
const TASK: &str = "HERMES_KANBAN_TASK";
/// The run it was started for.
const RUN: &str = "HERMES_KANBAN_RUN_ID";
/// The board it works on.
const BOARD: &str = "HERMES_KANBAN_BOARD";
/// Whose work it does.
const TENANT: &str = "HERMES_TENANT";
/// The profile it runs as.
const PROFILE: &str = "HERMES_PROFILE";

/// Opens for a worker that was started for a task, and where the configuration has the toolset.
pub(crate) fn for_workers() -> Gate {
    Gate::All(vec![
        given(),
        Gate::check("a task was given, or `kanban` is in `toolsets`", |probe| async move {
            if probe.env(TASK) || configured(probe.as_ref()) { Ok(()) } else { Err(needs(true)) }
        }),
    ])
}

/// Opens where the configuration has the toolset, and never for a worker.
pub(crate) fn for_orchestrators() -> Gate {
    Gate::All(vec![
        given(),
        Gate::check("`kanban` is in `toolsets`, and no task was given", |probe| async move {
            if probe.env(TASK) {
                return Err(format!("is for those who hand out tasks, and {TASK} is set"));
            }
            if configured(probe.as_ref()) { Ok(()) } else { Err(needs(false)) }
        }),
    ])
}

fn given() -> Gate {
    Gate::given::<Arc<dyn Kanban>>("a state folder that keeps tasks")
}

fn needs(or_task: bool) -> String {
    let or = if or_task { format!(", or {TASK}") } else { String::new() };
    format!("needs `kanban` in `toolsets` of config.yaml{or}")
}

fn configured(probe: &dyn Probe) -> bool {
    let toolsets = probe.config("toolsets");
    let listed = toolsets.as_ref().and_then(Value::as_array);
    listed.is_some_and(|names| names.iter().any(|name| name == "kanban"))
}

/// Where a call stands: its board, and in whose name it asks.
pub(crate) struct Desk<'a> {
    pub(crate) kanban: &'a Arc<dyn Kanban>,
    pub(crate) by: Actor,
    pub(crate) board: Option<String>,
    pub(crate) tenant: Option<String>,
    own: Option<String>,
}

impl<'a> Desk<'a> {
    /// The desk of a call that named this board, or none.
    pub(crate) fn of(cx: &'a ToolCx, board: Option<String>) -> Result<Self, ToolError> {
        let Some(kanban) = cx.service::<Arc<dyn Kanban>>() else {
            return Err(ToolError::Failed("there is no state folder that keeps tasks".to_owned()));
        };
        let keys = cx.keys()?;
        let own = keys.key(TASK);
        let run = keys.key(RUN).and_then(|run| run.trim().parse().ok());
        let name = keys.key(PROFILE).unwrap_or_else(|| kanban.profile().to_owned());
        let hand = Hand::Agent { session: cx.session_id().to_owned(), run, task: own.clone() };
        let board = said(board).or_else(|| keys.key(BOARD));
        Ok(Self { kanban, by: Actor { name, hand }, board, tenant: keys.key(TENANT), own })
    }

    /// The task that is meant: the one that was named, else the worker's own.
    pub(crate) fn task(&self, named: Option<String>) -> Result<TaskRef, ToolError> {
        let id = said(named).or_else(|| self.own.clone()).ok_or_else(|| {
            ToolError::Arguments(format!("task_id is needed: {TASK} names no task for this session"))
        })?;
        Ok(TaskRef { board: self.board.clone(), id })
    }

    /// Does something with a task, and tells what became of it.
    pub(crate) async fn act(&self, task: TaskRef, what: Act) -> Result<Value, ToolError> {
        let acted = self.kanban.act(task, what, self.by.clone()).await.map_err(refused)?;
        Ok(told(&acted))
    }
}

fn told(acted: &Acted) -> Value {
    let mut answer = json!({ "ok": true, "task_id": acted.task.id, "status": acted.task.status });
    if let Some(fields) = answer.as_object_mut() {
        if let Some(run) = acted.run {
            fields.insert("run_id".to_owned(), json!(run));
        }
        if let Some(expires) = acted.task.claim_expires_at {
            fields.insert("claim_expires_at".to_owned(), json!(expires));
        }
        if let Some(note) = &acted.note {
            fields.insert("note".to_owned(), json!(note));
        }
    }
    answer
}

/// A text that says something.
pub(crate) fn said(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Why the board says no, as a tool says it.
pub(crate) fn refused(why: KanbanError) -> ToolError {
    match why {
        KanbanError::Invalid(why) => ToolError::Arguments(why),
        other => ToolError::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_is_listed_as_the_original_lists_it() {
        struct Config(Value);

        impl Probe for Config {
            fn env(&self, _: &str) -> bool {
                false
            }

            fn program(&self, _: &str) -> bool {
                false
            }

            fn file(&self, _: &str) -> bool {
                false
            }

            fn config(&self, key: &str) -> Option<Value> {
                (key == "toolsets").then(|| self.0.clone())
            }

            fn service(&self, _: &str) -> futures::future::BoxFuture<'static, bool> {
                Box::pin(std::future::ready(false))
            }
        }

        assert!(configured(&Config(json!(["hermes-cli", "kanban"]))));
        for other in [json!(["hermes-cli"]), json!([]), json!("kanban"), json!(null)] {
            assert!(!configured(&Config(other)));
        }
    }
}
