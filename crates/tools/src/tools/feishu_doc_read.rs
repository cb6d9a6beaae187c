//! `feishu_doc_read`: the text of a Feishu document.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{Ask, Plan};
use crate::feishu::{self as lib, SERVICE};
use crate::toolsets::feishu_doc;

pub(crate) const TOOL: ToolDef = ToolDef::of::<DocRead>("feishu_doc_read", &feishu_doc::TOOLSET)
    .emoji("📄")
    .gate(lib::gate)
    .variables(lib::variables)
    .untrusted()
    .read_only();

/// Read a Feishu or Lark document (docx) as plain text. It has to be shared with the application.
#[derive(Deserialize, JsonSchema)]
struct DocRead {
    /// The document: its token, or a link to it
    doc_token: String,
}

impl Tool for DocRead {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let data = lib::run(cx, self.plan()).await?;
        Ok(json!({ "success": true, "content": data.get("content") }))
    }
}

impl DocRead {
    fn plan(&self) -> Result<Plan, ToolError> {
        let token = lib::token(&self.doc_token, "doc_token")?;
        Ok(Plan::look(Ask::get(&["open-apis", "docx", "v1", "documents", token, "raw_content"])))
    }
}
