//! `feishu_drive_list_comment_replies`: what was answered to a comment.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan, id};
use crate::feishu::{self as lib, SERVICE, comments};
use crate::toolsets::feishu_drive;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ListReplies>("feishu_drive_list_comment_replies", &feishu_drive::TOOLSET)
        .emoji("💬")
        .gate(lib::gate)
        .variables(lib::variables)
        .untrusted()
        .read_only();

/// List the replies to one comment on a file in Feishu Drive; the first is the comment itself.
#[derive(Deserialize, JsonSchema)]
struct ListReplies {
    /// The file: its token, or a link to it
    file_token: String,
    /// Id of the comment
    comment_id: String,
    /// Kind of file: doc, docx, sheet, file, slides
    #[serde(default = "comments::docx")]
    file_type: String,
    /// Most replies, up to 100
    #[serde(default = "comments::page_size")]
    page_size: u32,
    /// Where to go on, as the page before said
    page_token: Option<String>,
}

impl Tool for ListReplies {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let data = lib::run(cx, self.plan()).await?;
        Ok(comments::page(&data, "replies", comments::reply))
    }
}

impl ListReplies {
    fn plan(&self) -> Result<Plan, ToolError> {
        let file = lib::token(&self.file_token, "file_token")?;
        let comment = id(&self.comment_id, "comment_id")?;
        let ask = Ask::get(&["open-apis", "drive", "v1", "files", file, "comments", comment, "replies"]);
        let ask = comments::of_kind(ask, &self.file_type)?;
        Ok(Plan::look(comments::paged(ask, self.page_size, self.page_token.as_deref())))
    }
}
