//! `DeepInfra`, in the language of `OpenAI`.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::drawing::{Image, Provider, Wish, first_image};
use crate::media::service::{Asking, bearer};

pub(crate) const PROVIDER: Provider =
    Provider::new("deepinfra", KEYS, "black-forest-labs/FLUX-1-schnell", draw);

const KEYS: &[&str] = &["DEEPINFRA_API_KEY"];

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        if !wish.pictures.is_empty() {
            return Err(ToolError::Failed(format!("{} cannot begin with a picture", wish.model)));
        }
        let usual = "https://api.deepinfra.com/v1/openai";
        let base = asking.base("image_gen.deepinfra.base_url", "DEEPINFRA_BASE_URL", usual);
        let (width, height) = wish.shape.dots();
        let body = json!({
            "model": wish.model,
            "prompt": wish.prompt,
            "size": format!("{width}x{height}"),
            "n": 1,
            "response_format": "b64_json",
        });
        first_image(
            &asking.post(format!("{base}/images/generations"), &[bearer(&asking.key(KEYS)?)], &body).await?,
        )
    })
}
