//! `kanban_show`: all that is known of a task.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kanban::context::context;
use crate::kanban::{Desk, SLOT, for_workers, refused};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanShow>("kanban_show", &kanban::TOOLSET).emoji("📋").gate(for_workers).read_only();

/// Read a task of the board: what is to be done, what came of the tasks before it, earlier attempts,
/// comments, attachments. A worker begins with this, without a `task_id`; `worker_context` holds all that
/// matters as one text.
#[derive(Deserialize, JsonSchema)]
struct KanbanShow {
    /// The task; your own if left out
    task_id: Option<String>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanShow {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::ReadSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = Desk::of(cx, self.board)?;
        let view = desk.kanban.show(desk.task(self.task_id)?).await.map_err(refused)?;
        let ids = |tasks: &[hermes_core::kanban::Task]| -> Vec<Value> {
            let one = |task: &hermes_core::kanban::Task| json!({ "id": task.id, "title": task.title, "status": task.status, "summary": task.summary });
            tasks.iter().map(one).collect()
        };
        let mut answer = serde_json::to_value(&view).map_err(|why| ToolError::Failed(why.to_string()))?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("parents".to_owned(), Value::Array(ids(&view.parents)));
            fields.insert("children".to_owned(), Value::Array(ids(&view.children)));
            fields.insert("worker_context".to_owned(), json!(context(&view)));
        }
        Ok(answer)
    }
}
