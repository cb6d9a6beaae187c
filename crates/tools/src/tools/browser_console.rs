//! `browser_console`: what the page wrote to its console, or the answer to a script.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::answer::with_news;
use crate::browser::page::Settled;
use crate::browser::rules::{OPT_IN, script_refusal};
use crate::browser::{self, current};
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserConsole>("browser_console", &toolset::TOOLSET)
    .emoji("🖥️")
    .gate(browser::needs)
    .untrusted();

/// Read what the page wrote to its console and the errors of its scripts; or run a script in the page,
/// as in the console of a browser's developer tools, and get what it comes to.
#[derive(Deserialize, JsonSchema)]
struct BrowserConsole {
    /// Forget the messages after they were read
    #[serde(default)]
    clear: bool,
    /// JavaScript to run in the page, such as document.title
    expression: Option<String>,
}

impl Tool for BrowserConsole {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let script = self.expression.as_deref().map(str::trim).filter(|script| !script.is_empty());
        let answer = match script {
            Some(script) => {
                let opted_in = cx.keys()?.setting(OPT_IN) == Some(Value::Bool(true));
                if let Some(why) = script_refusal(script, opted_in) {
                    return Err(ToolError::Failed(why));
                }
                let result = browser.evaluate(&browser.page()?.session, script).await?;
                json!({ "success": true, "result": result, "result_type": kind(&result) })
            }
            None => browser.wire.state(|state| state.console.shown()),
        };
        if self.clear {
            browser.wire.state(|state| state.console.clear());
        }
        Ok(with_news(answer, &browser, Settled::Done))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
