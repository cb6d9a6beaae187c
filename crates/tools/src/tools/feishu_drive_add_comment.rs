//! `feishu_drive_add_comment`: comments on a whole file.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{Ask, Plan};
use crate::feishu::{self as lib, SERVICE, comments};
use crate::toolsets::feishu_drive;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<AddComment>("feishu_drive_add_comment", &feishu_drive::TOOLSET)
        .emoji("✉️")
        .gate(lib::gate)
        .variables(lib::variables)
        .untrusted();

/// Write a comment on a whole file in Feishu Drive, in plain text. Everybody who can see the file sees it.
#[derive(Deserialize, JsonSchema)]
struct AddComment {
    /// The file: its token, or a link to it
    file_token: String,
    /// What to say, in plain text
    content: String,
    /// Kind of file: doc, docx, sheet, file, slides
    #[serde(default = "comments::docx")]
    file_type: String,
}

impl Tool for AddComment {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let data = lib::run(cx, self.plan()).await?;
        Ok(json!({ "success": true, "comment_id": data.get("comment_id") }))
    }
}

impl AddComment {
    fn plan(&self) -> Result<Plan, ToolError> {
        let file = lib::token(&self.file_token, "file_token")?;
        let content = comments::content(&self.content)?;
        let ask = Ask::post(&["open-apis", "drive", "v1", "files", file, "comments"]);
        let ask = comments::of_kind(ask, &self.file_type)?
            .json(json!({ "reply_list": { "replies": [{ "content": content }] } }));
        let detail = format!("comment on the file {file}: {}", self.content.trim());
        Ok(Plan::act(ActKind::Send, detail, ask))
    }
}
