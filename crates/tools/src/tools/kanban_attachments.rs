//! `kanban_attachments`: the files kept with a task.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kanban::{Desk, SLOT, for_workers, refused};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef = ToolDef::of::<KanbanAttachments>("kanban_attachments", &kanban::TOOLSET)
    .emoji("📎")
    .gate(for_workers)
    .read_only();

/// List the files that are attached to a task of the board: name, type, size, who attached it, and the path
/// of the file on this machine, to read it from there.
#[derive(Deserialize, JsonSchema)]
struct KanbanAttachments {
    /// The task; your own if left out
    task_id: Option<String>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanAttachments {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let view = desk.kanban.show(desk.task(self.task_id)?).await.map_err(refused)?;
        Ok(json!({
            "task_id": view.task.id,
            "attachments": view.attachments,
            "count": view.attachments.len(),
        }))
    }
}
