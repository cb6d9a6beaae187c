//! `close_terminal`: closes the tab that shows a background process, in the program around the conversation.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::panes::Panes;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::read_terminal::{SLOT, panes};
use crate::toolsets::terminal;

pub(crate) const TOOL: ToolDef = ToolDef::of::<CloseTerminal>("close_terminal", &terminal::TOOLSET)
    .emoji("🖥️")
    .gate(|| Gate::given::<Arc<dyn Panes>>("a program that shows a terminal beside the conversation"));

/// Close the tab in which a background process is shown to the person. The process itself is left alone;
/// it is for tidying up when nobody needs to look at it any more.
#[derive(Deserialize, JsonSchema)]
struct CloseTerminal {
    /// Id of the background process, as it was returned when it was started
    process_id: String,
}

impl Tool for CloseTerminal {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        // Nothing is lost: the process goes on, and its output is still there.
        vec![Effect::WriteSlot(SLOT)]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let process = self.process_id.trim();
        if process.is_empty() {
            return Err(ToolError::Arguments("process_id: there is none".to_owned()));
        }
        panes(cx)?.close(process).await.map_err(|why| ToolError::Failed(why.to_string()))?;
        Ok(json!({ "success": true, "process_id": process }))
    }
}
