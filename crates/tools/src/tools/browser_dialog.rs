//! `browser_dialog`: answers a dialog of the page.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::browser::answer::with_news;
use crate::browser::{self, current};

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserDialog>("browser_dialog", &browser::CLOSER)
    .emoji("💬")
    .gate(browser::needs)
    .untrusted();

/// Answer a dialog of the page (alert, confirm, prompt, or the question whether to leave it). The page
/// stands still until its dialog is answered; results of the other browser tools tell about it as
/// `pending_dialogs`.
#[derive(Deserialize, JsonSchema)]
struct BrowserDialog {
    /// Yes or no
    action: Action,
    /// What to write into a prompt
    prompt_text: Option<String>,
    /// Which dialog, when there are several
    dialog_id: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Action {
    Accept,
    Dismiss,
}

impl Tool for BrowserDialog {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let browser = current(cx).await?;
        let id = self.dialog_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        let Some(dialog) = browser.wire.state(|state| state.take_dialog(id)) else {
            return Err(ToolError::Failed("no dialog waits for an answer".to_owned()));
        };
        let accept = self.action == Action::Accept;
        let mut params = json!({ "accept": accept });
        if let (Some(text), Some(fields)) = (&self.prompt_text, params.as_object_mut()) {
            fields.insert("promptText".to_owned(), json!(text));
        }
        let method = "Page.handleJavaScriptDialog";
        let limit = browser.limit;
        let session = Some(dialog.session.as_str());
        let answered = browser.wire.ask_anyway::<IgnoredAny>(session, method, params, limit).await;
        if let Err(wrong) = answered {
            let gone = wrong.to_string().contains("No dialog");
            if !gone {
                browser.wire.state(|state| state.give_back(dialog));
            }
            return Err(wrong.into());
        }
        let settled = browser.after_act().await?;
        let action = if accept { "accept" } else { "dismiss" };
        let answer = json!({ "success": true, "action": action, "dialog": dialog.shown() });
        Ok(with_news(answer, &browser, settled))
    }
}
