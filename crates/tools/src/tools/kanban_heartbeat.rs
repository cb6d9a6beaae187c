//! `kanban_heartbeat`: a sign of life of whoever works on a task.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::Act;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kanban::{Desk, SLOT, for_workers, said};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanHeartbeat>("kanban_heartbeat", &kanban::TOOLSET).emoji("💓").gate(for_workers);

/// Say that you are still at work on a task, every few minutes of long work: without a sign of life it is
/// given to somebody else after a quarter of an hour. A task that is ready and that nobody has is taken by
/// this. When it answers that your run is over, stop working on the task.
#[derive(Deserialize, JsonSchema)]
struct KanbanHeartbeat {
    /// The task; your own if left out
    task_id: Option<String>,
    /// How far the work is, in a line
    note: Option<String>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanHeartbeat {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(self.task_id)?;
        desk.act(task, Act::Heartbeat(said(self.note))).await
    }
}
