//! `feishu_drive_reply_comment`: answers a comment.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::{Ask, Plan, id};
use crate::feishu::{self as lib, SERVICE, comments};
use crate::toolsets::feishu_drive;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ReplyComment>("feishu_drive_reply_comment", &feishu_drive::TOOLSET)
        .emoji("✉️")
        .gate(lib::gate)
        .variables(lib::variables)
        .untrusted();

/// Answer a comment on words of a file in Feishu Drive, in plain text. A comment on the whole file takes
/// no replies: `feishu_drive_add_comment` writes a new one.
#[derive(Deserialize, JsonSchema)]
struct ReplyComment {
    /// The file: its token, or a link to it
    file_token: String,
    /// Id of the comment
    comment_id: String,
    /// What to say, in plain text
    content: String,
    /// Kind of file: doc, docx, sheet, file, slides
    #[serde(default = "comments::docx")]
    file_type: String,
}

impl Tool for ReplyComment {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let data = lib::run(cx, self.plan()).await?;
        Ok(json!({ "success": true, "reply_id": data.get("reply_id") }))
    }
}

impl ReplyComment {
    fn plan(&self) -> Result<Plan, ToolError> {
        let file = lib::token(&self.file_token, "file_token")?;
        let comment = id(&self.comment_id, "comment_id")?;
        let content = comments::content(&self.content)?;
        let ask = Ask::post(&["open-apis", "drive", "v1", "files", file, "comments", comment, "replies"]);
        let ask = comments::of_kind(ask, &self.file_type)?.json(json!({ "content": content }));
        let detail = format!("reply to the comment {comment} on the file {file}: {}", self.content.trim());
        Ok(Plan::act(ActKind::Send, detail, ask))
    }
}
