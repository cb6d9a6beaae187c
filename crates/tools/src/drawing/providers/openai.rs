//! `OpenAI`, or whoever speaks its language (`image_gen.openai.base_url`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::drawing::{Image, Provider, Wish, first_image};
use crate::media::service::{Asking, bearer};
use crate::media::{ending, kind_of};
use crate::multipart::Form;

pub(crate) const PROVIDER: Provider = Provider::new("openai", KEYS, "gpt-image-1", draw);

const KEYS: &[&str] = &["OPENAI_API_KEY", "VOICE_TOOLS_OPENAI_KEY"];

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        let base = asking.base("image_gen.openai.base_url", "OPENAI_BASE_URL", "https://api.openai.com/v1");
        let key = [bearer(&asking.key(KEYS)?)];
        let (width, height) = wish.shape.dots();
        let size = format!("{width}x{height}");
        if wish.pictures.is_empty() {
            let body = json!({ "model": wish.model, "prompt": wish.prompt, "size": size, "n": 1 });
            return first_image(&asking.post(format!("{base}/images/generations"), &key, &body).await?);
        }
        let mut form = Form::default()
            .text("model", wish.model)
            .text("prompt", wish.prompt)
            .text("size", &size)
            .text("n", "1");
        for (at, picture) in wish.pictures.iter().enumerate() {
            let bytes = bytes_of(picture).ok_or_else(not_here)?;
            let kind = kind_of(&bytes).unwrap_or("image/png");
            form = form.file("image[]", &format!("picture{at}.{}", ending(kind)), kind, &bytes);
        }
        first_image(&asking.post_form(format!("{base}/images/edits"), &key, form).await?)
    })
}

/// This service does not fetch pictures, so they come with what they hold.
fn not_here() -> ToolError {
    ToolError::Failed("the picture to begin with could not be read".to_owned())
}

fn bytes_of(url: &str) -> Option<Vec<u8>> {
    STANDARD.decode(url.strip_prefix("data:")?.split_once(";base64,")?.1).ok()
}
