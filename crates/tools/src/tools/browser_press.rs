//! `browser_press`: presses a key.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::answer::{with, with_news};
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserPress>("browser_press", &toolset::TOOLSET)
    .emoji("⌨️")
    .gate(browser::needs)
    .untrusted();

/// Press a key where the page has its focus: Enter to send a form, Tab to go on, Escape to close
/// something, arrows, or one with others held such as Control+a.
#[derive(Deserialize, JsonSchema)]
struct BrowserPress {
    /// The key, such as Enter, Tab, Escape, `ArrowDown`, a, Control+a
    key: String,
}

impl Tool for BrowserPress {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let press = browser::key(&self.key).map_err(ToolError::Arguments)?;
        let browser = current(cx).await?;
        let before = browser.page()?;
        let settled = browser.press(&before.session, &press).await?;
        let mut answer = json!({ "success": true, "pressed": self.key });
        let after = browser.wire.state(|state| state.page().cloned());
        if let Some(after) = after.filter(|after| after.url != before.url) {
            answer = with(answer, "url", json!(after.url));
        }
        Ok(with_news(answer, &browser, settled))
    }
}
