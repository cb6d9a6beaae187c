//! `yb_query_group_members`: who is in a Yuanbao group.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use hermes_core::yuanbao::{Member, MemberKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{id, needed, set};
use crate::toolsets::hermes_yuanbao;
use crate::yuanbao::{self as lib, called, row};

pub(crate) const TOOL: ToolDef =
    ToolDef::of::<GroupMembers>("yb_query_group_members", &hermes_yuanbao::TOOLSET)
        .emoji("📋")
        .gate(lib::gate)
        .untrusted()
        .read_only();

/// See who is in a Yuanbao group: find somebody by name, list the bots, or list everybody. To mention
/// somebody in a message, find them first with mention.
#[derive(Deserialize, JsonSchema)]
struct GroupMembers {
    /// Code of the group
    group_code: String,
    /// Whom to look for
    action: Action,
    /// The name, or a part of it, for find
    name: Option<String>,
    /// Also tell how each is mentioned in a message
    mention: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Find,
    ListBots,
    ListAll,
}

impl Tool for GroupMembers {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![lib::connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let code = id(&self.group_code, "group_code")?;
        let name = match self.action {
            Action::Find => needed(self.name.as_deref(), "name", "find")?,
            _ => "",
        };
        let members = lib::desk(cx)?.members(lib::permit(cx)?, code).await.map_err(lib::failed)?;
        Ok(self.told(&members, name))
    }
}

impl GroupMembers {
    fn told(&self, members: &[Member], name: &str) -> Value {
        let chosen: Vec<&Member> = match self.action {
            Action::Find => called(members, name),
            Action::ListBots => members.iter().filter(|member| member.kind != MemberKind::Person).collect(),
            Action::ListAll => members.iter().collect(),
        };
        let mention = self.mention.unwrap_or_default();
        let rows: Vec<Value> = chosen.into_iter().map(|member| row(member, mention)).collect();
        let mut told = json!({ "success": true, "count": rows.len(), "members": rows });
        if mention && !rows.is_empty() {
            set(&mut told, "note", json!("write the mention with a space on both sides of it"));
        }
        told
    }
}
