//! `kanban_attach`: a file to be kept with a task.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::kanban::{MAX_ATTACHMENT, NewAttachment};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kanban::{Desk, SLOT, for_workers, refused, said};
use crate::toolsets::kanban;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<KanbanAttach>("kanban_attach", &kanban::TOOLSET).emoji("📎").gate(for_workers);

/// Attach a small file to a task of the board, given as base64; up to 25 MB. It is kept with the task for
/// whoever works on it next.
#[derive(Deserialize, JsonSchema)]
struct KanbanAttach {
    /// The task; your own if left out
    task_id: Option<String>,
    /// Name of the file, without a folder
    filename: String,
    /// What the file holds, in base64
    content_base64: String,
    /// What it is, such as text/csv; told by the name if left out
    content_type: Option<String>,
    /// The board it is on, if not the usual one
    board: Option<String>,
}

impl Tool for KanbanAttach {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let bytes = decoded(&self.content_base64).map_err(ToolError::Arguments)?;
        let desk = Desk::of(cx, self.board)?;
        let task = desk.task(self.task_id)?;
        let file =
            NewAttachment { name: self.filename, media_type: said(self.content_type), source: None, bytes };
        let id = task.id.clone();
        let kept = desk.kanban.attach(task, file, desk.by.clone()).await.map_err(refused)?;
        Ok(json!({ "ok": true, "task_id": id, "attachment": kept }))
    }
}

/// The bytes behind base64; white space in it, and a `data:` address around it, do not matter.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    let text = text.trim();
    let text = match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,").map_or(rest, |(_, content)| content),
        None => text,
    };
    // Four characters for every three bytes.
    if text.len() / 4 * 3 > MAX_ATTACHMENT + MAX_ATTACHMENT / 4 {
        return Err(format!("content_base64: {} MB are the most", MAX_ATTACHMENT / (1024 * 1024)));
    }
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(text).map_err(|wrong| format!("content_base64 is not base64: {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_models_write_it() {
        assert_eq!(decoded(" aGVs\nbG8= "), Ok(b"hello".to_vec()));
        assert_eq!(decoded("data:text/plain;base64,aGk="), Ok(b"hi".to_vec()));
        assert!(decoded("hello!").unwrap_err().contains("not base64"));
        assert!(decoded(&"A".repeat(MAX_ATTACHMENT * 2)).unwrap_err().contains("25 MB"));
    }
}
