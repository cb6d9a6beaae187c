//! `browser_vision`: a picture of the page, for models that see.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::outcome::Attachment;
use hermes_core::session::Place;
use hermes_core::tool::{Reply, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::answer::{with, with_news};
use crate::browser::page::Settled;
use crate::browser::{self, current};
use crate::pictures;
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserVision>("browser_vision", &toolset::TOOLSET)
    .emoji("👁️")
    .gate(browser::needs)
    .untrusted()
    .read_only();

/// Look at the page as a picture: for layout, charts, pictures, puzzles, and whatever the snapshot does
/// not tell. The picture comes with the result for models that see, and is kept as a file.
#[derive(Deserialize, JsonSchema)]
struct BrowserVision {
    /// What you want to know about the picture
    question: String,
    /// Mark what can be clicked with its ref in the picture
    #[serde(default)]
    annotate: bool,
}

impl Tool for BrowserVision {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        browser::effects()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        self.look(cx).await.map(|(answer, _)| answer)
    }

    async fn reply(self, cx: &ToolCx) -> Result<Reply, ToolError> {
        let (answer, picture) = self.look(cx).await?;
        Ok(match picture {
            Some(picture) => Reply::Attached(answer, vec![picture]),
            None => Reply::Json(answer),
        })
    }
}

impl BrowserVision {
    async fn look(&self, cx: &ToolCx) -> Result<(Value, Option<Attachment>), ToolError> {
        let browser = current(cx).await?;
        let page = browser.page()?;
        if let Settled::Dialog = browser.after_act().await? {
            let words = "a dialog of the page is in the way; answer it first";
            return Ok((
                with_news(json!({ "success": false, "error": words }), &browser, Settled::Done),
                None,
            ));
        }
        let shot = browser.picture(&page.session, self.annotate).await?;
        let mut answer = json!({
            "success": true,
            "question": self.question,
            "url": page.url,
            "hint": "the picture itself comes with this result for models that see",
        });
        if let Some((width, height)) = pictures::size(&shot.bytes) {
            answer = with(with(answer, "width", json!(width)), "height", json!(height));
        }
        if self.annotate {
            answer = with(answer, "marked", json!(shot.marked));
        }
        let name = format!("{}-page", cx.call());
        let kept = browser::browsers(cx)?.keep_picture(cx.session_id(), &name, shot.bytes.clone()).await;
        if let Some(path) = kept {
            answer = with(answer, "screenshot_path", json!(path));
        }
        let answer = with_news(answer, &browser, Settled::Done);
        let bytes = u64::try_from(shot.bytes.len()).unwrap_or(u64::MAX);
        let picture = Attachment {
            media_type: "image/png".to_owned(),
            name: "page.png".to_owned(),
            bytes: shot.bytes.into(),
        };
        Ok((answer, Some(picture).filter(|_| bytes <= Attachment::MAX_BYTES)))
    }
}
