//! `kanban_comment`: something to say about a task.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::Act;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kanban::{Desk, SLOT, for_workers};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanComment>("kanban_comment", &kanban::TOOLSET).emoji("💬").gate(for_workers);

/// Leave a comment on a task of the board, for whoever works on it next or looks at it. It stays with the
/// task and changes nothing else; any task can be commented on.
#[derive(Deserialize, JsonSchema)]
struct KanbanComment {
    /// The task
    task_id: String,
    /// What to say
    body: String,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanComment {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(Some(self.task_id))?;
        desk.act(task, Act::Comment(self.body)).await
    }
}
