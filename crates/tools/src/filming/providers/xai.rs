//! xAI.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::filming::xai::{KEYS, MODEL, run};
use crate::filming::{Made, Provider, Wish};
use crate::media::service::Asking;

pub(crate) const PROVIDER: Provider = Provider::new("xai", KEYS, MODEL, film);

fn film<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Made, ToolError>> {
    Box::pin(async move { run(asking, "generations", &request(wish)).await })
}

fn request(wish: &Wish<'_>) -> Value {
    // It makes films of two sizes; the nearest is taken.
    let resolution = if matches!(wish.resolution, "480p" | "540p") { "480p" } else { "720p" };
    let mut body = json!({
        "model": wish.model,
        "prompt": wish.prompt,
        "aspect_ratio": wish.ratio,
        "resolution": resolution,
    });
    let mut add = |name: &str, value: Value| {
        if let Some(fields) = body.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    if let Some(seconds) = wish.duration {
        add("duration", json!(seconds.clamp(1, 15)));
    }
    if let Some(first) = wish.first {
        add("image", json!({ "url": first }));
    }
    if !wish.references.is_empty() {
        let list: Vec<Value> = wish.references.iter().map(|url| json!({ "url": url })).collect();
        add("reference_images", json!(list));
    }
    body
}
