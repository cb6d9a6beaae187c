//! xAI.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::drawing::{Image, Provider, Wish, first_image};
use crate::media::service::{Asking, bearer};

pub(crate) const PROVIDER: Provider = Provider::new("xai", KEYS, "grok-imagine-image", draw);

const KEYS: &[&str] = &["XAI_API_KEY"];

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        let base = asking.base("image_gen.xai.base_url", "XAI_BASE_URL", "https://api.x.ai/v1");
        let key = [bearer(&asking.key(KEYS)?)];
        // Addresses of this service pass away soon.
        let mut body = json!({ "model": wish.model, "prompt": wish.prompt, "response_format": "b64_json" });
        let image = |url: &String| json!({ "url": url, "type": "image_url" });
        let (path, field, value) = match wish.pictures {
            [] => ("generations", "aspect_ratio", json!(wish.shape.ratio())),
            [one] => ("edits", "image", image(one)),
            several => ("edits", "images", several.iter().map(image).collect()),
        };
        if let Some(fields) = body.as_object_mut() {
            fields.insert(field.to_owned(), value);
        }
        first_image(&asking.post(format!("{base}/images/{path}"), &key, &body).await?)
    })
}
