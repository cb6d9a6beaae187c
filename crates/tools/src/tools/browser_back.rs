//! `browser_back`: goes back to the page before.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::with_news;
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserBack>("browser_back", &toolset::TOOLSET)
    .emoji("◀️")
    .gate(browser::needs)
    .untrusted();

/// Go back to the page that was open before this one, as the back button of a browser does.
#[derive(Deserialize, JsonSchema)]
struct BrowserBack {}

impl Tool for BrowserBack {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let Some(settled) = browser.back().await? else {
            return Err(ToolError::Failed("there is no page before this one".to_owned()));
        };
        let answer = json!({ "success": true, "url": browser.page()?.url });
        Ok(with_news(answer, &browser, settled))
    }
}
