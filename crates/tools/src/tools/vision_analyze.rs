//! `vision_analyze`: what is on a picture.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::outcome::Attachment;
use hermes_core::session::Place;
use hermes_core::side::SideModels;
use hermes_core::tool::{Reply, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::choice::choosable;
use crate::media::look::MODEL;
use crate::media::sight;
use crate::media::source::{Found, Source};
use crate::toolsets::vision;

pub(crate) const TOOL: ToolDef = ToolDef::of::<VisionAnalyze>("vision_analyze", &vision::TOOLSET)
    .emoji("👁️")
    .gate(|| Gate::given::<Arc<dyn SideModels>>("models to look with"))
    .timeout(Duration::from_mins(4))
    .untrusted()
    .read_only()
    .placed()
    .dynamic(choosable);

/// Largest picture that is fetched.
const MOST: usize = 50 * 1024 * 1024;

/// Look at a picture and answer a question about it. Takes the address of a picture, a path, or a data: URL;
/// PNG, JPEG, GIF, WebP, BMP and TIFF. Large ones are made smaller.
#[derive(Deserialize, JsonSchema)]
struct VisionAnalyze {
    /// The picture: http(s) address, path of a file, or data: URL
    image_url: String,
    /// What you want to know about it
    question: String,
}

impl Tool for VisionAnalyze {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let mut effects = Source::of(&self.image_url).effects(place);
        effects.push(Effect::Connect(MODEL.to_owned()));
        effects
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        self.look(cx).await.map(|(answer, _)| answer)
    }

    async fn reply(self, cx: &ToolCx) -> Result<Reply, ToolError> {
        Ok(match self.look(cx).await? {
            (answer, Some(picture)) => Reply::Attached(answer, vec![picture]),
            (answer, None) => Reply::Json(answer),
        })
    }
}

impl VisionAnalyze {
    async fn look(&self, cx: &ToolCx) -> Result<(Value, Option<Attachment>), ToolError> {
        let seen = async {
            let found = Source::of(&self.image_url).load(cx, MOST).await?;
            let media_type = picture_kind(&found).map_err(ToolError::Failed)?;
            let picture = sight::fitting(cx, found.bytes, media_type).await?;
            if sight::sees_itself(cx, false) {
                let answer = json!({
                    "success": true,
                    "analysis": format!("The picture comes with this result: look at it. {}", self.question.trim()),
                });
                let media_type = picture.media_type.to_owned();
                let shown = Attachment { media_type, name: found.name, bytes: picture.bytes.into() };
                return Ok((with_size(answer, picture.was), Some(shown)));
            }
            let analysis = sight::told(cx, &picture, &self.question).await?;
            Ok((with_size(json!({ "success": true, "analysis": analysis }), picture.was), None))
        };
        match seen.await {
            Err(wrong @ (ToolError::Failed(_) | ToolError::Web(_) | ToolError::File(_))) => {
                let error = wrong.to_string();
                let analysis = format!("The picture could not be looked at: {error}");
                Ok((json!({ "success": false, "error": error, "analysis": analysis }), None))
            }
            other => other,
        }
    }
}

/// Says how large a picture was that was made smaller.
fn with_size(mut answer: Value, was: Option<(u32, u32)>) -> Value {
    if let (Some((width, height)), Some(fields)) = (was, answer.as_object_mut()) {
        let note = format!("the picture has {width} × {height} dots and was made smaller to be looked at");
        fields.insert("note".to_owned(), json!(note));
    }
    answer
}

/// The media type, if it is a picture.
fn picture_kind(found: &Found) -> Result<&'static str, String> {
    found.media_type.filter(|kind| kind.starts_with("image/")).ok_or_else(|| {
        let what = found.media_type.unwrap_or("something unknown");
        format!("this is no picture but {what}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Found {
        Found { bytes: bytes.to_vec(), media_type: crate::media::kind_of(bytes), name: "x.png".to_owned() }
    }

    #[test]
    fn a_picture_is_one_whatever_it_is_called() {
        let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xE0\x08\x06";

        assert_eq!(picture_kind(&found(png)), Ok("image/png"));
        assert_eq!(picture_kind(&found(b"II*\0xxxx")), Ok("image/tiff"));
        assert!(picture_kind(&found(b"<html>")).unwrap_err().contains("no picture"));
    }
}
