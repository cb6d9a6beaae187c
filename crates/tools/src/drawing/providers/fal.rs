//! fal.ai: many models, each with its own way to say how large a picture is to be.

use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::drawing::{Image, Provider, Shape, Wish, no_image};
use crate::media::fal::{KEYS, run};
use crate::media::service::Asking;

pub(crate) const PROVIDER: Provider = Provider::new("fal", KEYS, "fal-ai/flux-2/klein/9b", draw);

/// How long a picture may take.
const PATIENCE: Duration = Duration::from_mins(5);

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        let (model, input) = request(wish).map_err(ToolError::Failed)?;
        let answer = run(asking, "image_gen", &model, &input, PATIENCE).await?;
        let url = answer.pointer("/images/0/url").or_else(|| answer.pointer("/image/url"));
        url.and_then(Value::as_str).map(|url| Image::Url(url.to_owned())).ok_or_else(no_image)
    })
}

/// The model that is asked, and what it is told.
fn request(wish: &Wish<'_>) -> Result<(String, Value), String> {
    let model = wish.model.trim_matches('/');
    let mut input = json!({ "prompt": wish.prompt, "num_images": 1 });
    let Some(fields) = input.as_object_mut() else { return Err("there is nothing to ask".to_owned()) };
    let (field, value) = size(model, wish.shape);
    fields.insert(field.to_owned(), value);
    if wish.pictures.is_empty() {
        return Ok((model.to_owned(), input));
    }
    let edit = edit_of(model).ok_or_else(|| format!("{model} cannot begin with a picture"))?;
    // The size is that of the picture it begins with.
    fields.remove("image_size");
    fields.insert("image_urls".to_owned(), json!(wish.pictures));
    Ok((edit, input))
}

/// How a model wants to be told the size.
fn size(model: &str, shape: Shape) -> (&'static str, Value) {
    let by_ratio = ["nano-banana", "krea", "imagen", "grok-imagine"].iter().any(|name| model.contains(name));
    if by_ratio {
        return ("aspect_ratio", json!(shape.ratio()));
    }
    if model.contains("gpt-image") {
        let (width, height) = shape.dots();
        return ("image_size", json!(format!("{width}x{height}")));
    }
    let preset = match shape {
        Shape::Landscape => "landscape_16_9",
        Shape::Square => "square_hd",
        Shape::Portrait => "portrait_16_9",
    };
    ("image_size", json!(preset))
}

/// The endpoint that changes pictures, for models that have one.
fn edit_of(model: &str) -> Option<String> {
    let has_none = ["ideogram", "recraft", "z-image", "krea"].iter().any(|name| model.contains(name));
    if model.ends_with("/edit") {
        return Some(model.to_owned());
    }
    if model.ends_with("fal-ai/qwen-image") {
        return Some("fal-ai/qwen-image-edit-plus".to_owned());
    }
    (!has_none).then(|| format!("{}/edit", model.trim_end_matches("/text-to-image")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(model: &str, shape: Shape, pictures: &[String]) -> Result<(String, Value), String> {
        request(&Wish { prompt: "a lamp", shape, pictures, model })
    }

    #[test]
    fn each_model_is_told_the_size_in_its_own_words() {
        let flux = asked("fal-ai/flux-2/klein/9b", Shape::Landscape, &[]).unwrap();
        let banana = asked("fal-ai/nano-banana-pro", Shape::Portrait, &[]).unwrap();
        let gpt = asked("fal-ai/gpt-image-1.5", Shape::Square, &[]).unwrap();

        assert_eq!(flux.1, json!({ "prompt": "a lamp", "num_images": 1, "image_size": "landscape_16_9" }));
        assert_eq!(banana.1["aspect_ratio"], "9:16");
        assert_eq!(gpt.1["image_size"], "1024x1024");
    }

    #[test]
    fn a_picture_to_begin_with_goes_to_the_endpoint_that_changes_pictures() {
        let pictures = ["https://a.example/x.png".to_owned()];

        let (model, input) = asked("fal-ai/flux-2-pro", Shape::Square, &pictures).unwrap();

        assert_eq!(model, "fal-ai/flux-2-pro/edit");
        assert_eq!(input, json!({ "prompt": "a lamp", "num_images": 1, "image_urls": pictures }));
        assert!(asked("fal-ai/ideogram/v3", Shape::Square, &pictures).is_err());
    }
}
