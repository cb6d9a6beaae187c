//! `kanban_link`: one task waits for another.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::Link;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kanban::{Desk, SLOT, for_workers, refused};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanLink>("kanban_link", &kanban::TOOLSET).emoji("🔗").gate(for_workers);

/// Let one task of the board wait for another: the child is not worked on before the parent is done, and
/// then gets its result. Tasks that would wait for each other are refused.
#[derive(Deserialize, JsonSchema)]
struct KanbanLink {
    /// The task that has to be done first
    parent_id: String,
    /// The task that waits for it
    child_id: String,
    /// The board both are on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanLink {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let link = Link { board: desk.board.clone(), parent: self.parent_id, child: self.child_id };
        let parent = link.parent.trim().to_owned();
        let child = desk.kanban.link(link, true, desk.by.clone()).await.map_err(refused)?;
        Ok(json!({ "ok": true, "parent_id": parent, "child_id": child.id, "child_status": child.status }))
    }
}
