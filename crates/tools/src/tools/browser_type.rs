//! `browser_type`: writes into a field of the page.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::with_news;
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserType>("browser_type", &toolset::TOOLSET)
    .emoji("⌨️")
    .gate(browser::needs)
    .untrusted();

/// Write a text into a field of the page, in place of what it holds. Of a list one entry is chosen by its
/// text; dates are written YYYY-MM-DD.
#[derive(Deserialize, JsonSchema)]
struct BrowserType {
    /// Ref of the field, such as @e3
    #[serde(rename = "ref")]
    reference: String,
    /// What to write; nothing empties the field
    text: String,
}

impl Tool for BrowserType {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        browser.page()?;
        let (element, words) = browser.element(&self.reference)?;
        let filled = browser.fill(&self.reference, &element, &self.text).await?;
        // What a field hides is not repeated.
        let typed = if filled.secret { "••••" } else { self.text.as_str() };
        let answer = json!({
            "success": true, "typed": typed, "element": self.reference, "field": words,
        });
        Ok(with_news(answer, &browser, filled.settled))
    }
}
