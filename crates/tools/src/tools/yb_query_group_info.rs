//! `yb_query_group_info`: what a Yuanbao group is.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::api::id;
use crate::toolsets::hermes_yuanbao;
use crate::yuanbao::{self as lib, row};

pub(crate) const TOOL: ToolDef = ToolDef::of::<GroupInfo>("yb_query_group_info", &hermes_yuanbao::TOOLSET)
    .emoji("👥")
    .gate(lib::gate)
    .untrusted()
    .read_only();

/// Look up a Yuanbao group: what it is called, who made it, how many are in it.
#[derive(Deserialize, JsonSchema)]
struct GroupInfo {
    /// Code of the group
    group_code: String,
}

impl Tool for GroupInfo {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![lib::connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let code = id(&self.group_code, "group_code")?;
        let group = lib::desk(cx)?.group(lib::permit(cx)?, code).await.map_err(lib::failed)?;
        Ok(json!({
            "success": true,
            "group_code": group.code,
            "group_name": group.name,
            "owner": group.owner.map(|owner| row(&owner, false)),
            "member_count": group.members,
        }))
    }
}
