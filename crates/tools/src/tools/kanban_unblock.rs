//! `kanban_unblock`: a blocked task can go on.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::Act;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kanban::{Desk, SLOT, for_orchestrators};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanUnblock>("kanban_unblock", &kanban::TOOLSET).emoji("▶").gate(for_orchestrators);

/// Let a blocked task go on: it can be taken again, or waits for the tasks before it. Say in a comment first
/// what has changed, so that the next attempt knows.
#[derive(Deserialize, JsonSchema)]
struct KanbanUnblock {
    /// The task
    task_id: String,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanUnblock {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(Some(self.task_id))?;
        desk.act(task, Act::Unblock).await
    }
}
