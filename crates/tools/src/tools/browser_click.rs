//! `browser_click`: clicks an element of the page.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::{with, with_news};
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserClick>("browser_click", &toolset::TOOLSET)
    .emoji("👆")
    .gate(browser::needs)
    .untrusted();

/// Click an element of the page by its ref from the last snapshot. A page that the click leads to is
/// waited for; take a new snapshot to see it.
#[derive(Deserialize, JsonSchema)]
struct BrowserClick {
    /// Ref of the element, such as @e5
    #[serde(rename = "ref")]
    reference: String,
}

impl Tool for BrowserClick {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let before = browser.page()?;
        let (element, words) = browser.element(&self.reference)?;
        let settled = browser.click(&self.reference, &element).await?;
        let mut answer = json!({ "success": true, "clicked": self.reference, "element": words });
        let after = browser.wire.state(|state| state.page().cloned());
        if let Some(after) = after.filter(|after| after.url != before.url || after.target != before.target) {
            answer = with(answer, "url", json!(after.url));
        }
        Ok(with_news(answer, &browser, settled))
    }
}
