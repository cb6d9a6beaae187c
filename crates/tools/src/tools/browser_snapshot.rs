//! `browser_snapshot`: the page as text, with refs.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::{with_news, with_snapshot};
use crate::browser::capture::Detail;
use crate::browser::page::Settled;
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserSnapshot>("browser_snapshot", &toolset::TOOLSET)
    .emoji("📸")
    .gate(browser::needs)
    .untrusted()
    .read_only();

/// Read the page that is open as text, its frames included. What can be clicked or filled in has a ref
/// (@e1, @e2, …) that the other browser tools take. Use it again after the page has changed.
#[derive(Deserialize, JsonSchema)]
struct BrowserSnapshot {
    /// Everything: all structure, where links lead, and refs for all that has text, so that also what
    /// does not look like a button can be clicked
    #[serde(default)]
    full: bool,
}

impl Tool for BrowserSnapshot {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let detail = if self.full { Detail::Full } else { Detail::Compact };
        let answer = with_snapshot(cx, &browser, json!({ "success": true }), detail, "snapshot").await?;
        Ok(with_news(answer, &browser, Settled::Done))
    }
}
