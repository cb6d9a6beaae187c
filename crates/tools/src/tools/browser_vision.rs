//! `browser_vision`: a picture of the page, for models that see; for others one that sees tells about it.

use std::time::Duration;

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
use crate::media::look::MODEL;
use crate::media::sight;
use crate::pictures;
use crate::toolsets::browser as toolset;

pub(crate) const TOOL: ToolDef = ToolDef::of::<BrowserVision>("browser_vision", &toolset::TOOLSET)
    .emoji("👁️")
    .gate(browser::needs)
    .timeout(Duration::from_mins(4))
    .untrusted()
    .read_only();

/// Look at the page as a picture: for layout, charts, pictures, puzzles, and whatever the snapshot does
/// not tell. Models that see get the picture itself, others what a model that sees answers; it is also
/// kept as a file.
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
        let mut effects = browser::effects();
        effects.push(Effect::Connect(MODEL.to_owned()));
        effects
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
        let mut answer = json!({ "success": true, "question": self.question, "url": page.url });
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
        self.shown(cx, answer, shot.bytes).await
    }

    /// The picture for the model itself, or what another says about it.
    async fn shown(
        &self,
        cx: &ToolCx,
        answer: Value,
        png: Vec<u8>,
    ) -> Result<(Value, Option<Attachment>), ToolError> {
        let seen = async {
            let picture = sight::fitting(cx, png, "image/png").await?;
            // Whoever asks from outside may well see, and nobody is paid for looking in their place.
            if sight::sees_itself(cx, true) {
                return Ok((None, Some(picture)));
            }
            sight::told(cx, &picture, &self.question).await.map(|analysis| (Some(analysis), None))
        };
        match seen.await {
            Ok((Some(analysis), _)) => Ok((with(answer, "analysis", json!(analysis)), None)),
            Ok((None, picture)) => {
                let hint = "the picture itself comes with this result for models that see";
                let picture = picture.map(|picture| Attachment {
                    name: if picture.media_type == "image/png" { "page.png" } else { "page.jpg" }.to_owned(),
                    media_type: picture.media_type.to_owned(),
                    bytes: picture.bytes.into(),
                });
                Ok((with(answer, "hint", json!(hint)), picture))
            }
            Err(wrong @ (ToolError::Failed(_) | ToolError::Web(_))) => {
                // The picture is kept all the same.
                let error = format!("nobody could look at the picture: {wrong}");
                Ok((with(with(answer, "success", json!(false)), "error", json!(error)), None))
            }
            Err(other) => Err(other),
        }
    }
}
