//! `yb_search_sticker`: finds a sticker.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::toolsets::hermes_yuanbao;
use crate::yuanbao::{self as lib, fitting};

pub(crate) const TOOL: ToolDef = ToolDef::of::<SearchSticker>("yb_search_sticker", &hermes_yuanbao::TOOLSET)
    .emoji("🔍")
    .gate(lib::gate)
    .read_only();

/// Find a Yuanbao sticker by what it shows, such as happy, cat or thanks, to send it with
/// `yb_send_sticker`.
#[derive(Deserialize, JsonSchema)]
struct SearchSticker {
    /// What it should show, in a few words; some of all if left out
    query: Option<String>,
    /// Most stickers to list
    limit: Option<u32>,
}

impl Tool for SearchSticker {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![lib::connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let all = lib::desk(cx)?.stickers(lib::permit(cx)?).await.map_err(lib::failed)?;
        let limit = self.limit.unwrap_or(10).clamp(1, 50) as usize;
        let found = fitting(&all, self.query.as_deref().unwrap_or_default());
        let rows: Vec<Value> = found
            .into_iter()
            .take(limit)
            .map(|it| json!({ "sticker_id": it.id, "name": it.name, "description": it.description }))
            .collect();
        Ok(json!({ "success": true, "count": rows.len(), "stickers": rows }))
    }
}
