//! `kanban_block`: a task cannot go on.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::kanban::{Act, BlockKind};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kanban::{Desk, SLOT, for_workers};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanBlock>("kanban_block", &kanban::TOOLSET).emoji("⏸").gate(for_workers);

/// Stop working on a task that cannot go on, and say what is needed. Your attempt ends; somebody answers in
/// a comment and unblocks it, and the next attempt reads both. With kind dependency, a task that waits for
/// others goes on by itself when they are done.
#[derive(Deserialize, JsonSchema)]
struct KanbanBlock {
    /// The task; your own if left out
    task_id: Option<String>,
    /// What stands in the way, and what exactly would help
    reason: String,
    /// Another task is needed first, somebody must answer, you cannot do this kind of work, or it may work later
    kind: Option<Kind>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Dependency,
    NeedsInput,
    Capability,
    Transient,
}

impl From<Kind> for BlockKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Dependency => Self::Dependency,
            Kind::NeedsInput => Self::NeedsInput,
            Kind::Capability => Self::Capability,
            Kind::Transient => Self::Transient,
        }
    }
}

impl Tool for KanbanBlock {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(self.task_id)?;
        desk.act(task, Act::Block(self.kind.map(Into::into), self.reason)).await
    }
}
