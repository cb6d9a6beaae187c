//! `feishu_drive_list_comments`: the comments on a Feishu file.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::{Ask, Plan};
use crate::feishu::{self as lib, SERVICE, comments};
use crate::toolsets::feishu_drive;

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<ListComments>("feishu_drive_list_comments", &feishu_drive::TOOLSET)
        .emoji("💬")
        .gate(lib::gate)
        .variables(lib::variables)
        .untrusted()
        .read_only();

/// List the comments on a file in Feishu Drive, with the words each is about and the replies to it.
#[derive(Deserialize, JsonSchema)]
struct ListComments {
    /// The file: its token, or a link to it
    file_token: String,
    /// Kind of file: doc, docx, sheet, file, slides
    #[serde(default = "comments::docx")]
    file_type: String,
    /// Only comments on the whole file
    #[serde(default)]
    is_whole: bool,
    /// Most comments, up to 100
    #[serde(default = "comments::page_size")]
    page_size: u32,
    /// Where to go on, as the page before said
    page_token: Option<String>,
}

impl Tool for ListComments {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        SERVICE.effects(&self.plan())
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let data = lib::run(cx, self.plan()).await?;
        Ok(comments::page(&data, "comments", comments::comment))
    }
}

impl ListComments {
    fn plan(&self) -> Result<Plan, ToolError> {
        let file = lib::token(&self.file_token, "file_token")?;
        let ask = Ask::get(&["open-apis", "drive", "v1", "files", file, "comments"]);
        let ask = comments::of_kind(ask, &self.file_type)?.query("is_whole", self.is_whole.then_some(true));
        Ok(Plan::look(comments::paged(ask, self.page_size, self.page_token.as_deref())))
    }
}
