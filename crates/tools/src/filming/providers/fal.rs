//! fal.ai: models that film, by its queue.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::filming::{Made, PATIENCE, Provider, Wish};
use crate::media::fal::{KEYS, run};
use crate::media::service::{Asking, at};

pub(crate) const PROVIDER: Provider = Provider::new("fal", KEYS, "fal-ai/veo3.1/fast", film);

fn film<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Made, ToolError>> {
    Box::pin(async move {
        let (model, input) = request(wish);
        let answer = run(asking, "video_gen", &model, &input, PATIENCE).await?;
        let video = answer.get("video").unwrap_or(&Value::Null);
        let url = at(video, "/url").as_str().or_else(|| at(&answer, "/video_url").as_str());
        let url = url.ok_or_else(|| ToolError::Failed("the service made no film".to_owned()))?;
        Ok(Made { url: url.to_owned(), duration: at(video, "/duration").as_f64() })
    })
}

/// The model that is asked, and what it is told.
fn request(wish: &Wish<'_>) -> (String, Value) {
    let model = wish.model.trim_matches('/');
    let mut input = json!({
        "prompt": wish.prompt,
        "aspect_ratio": wish.ratio,
        "resolution": wish.resolution,
    });
    let mut add = |name: &str, value: Value| {
        if let Some(fields) = input.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    if let Some(seconds) = wish.duration {
        // Veo counts in words, the others in numbers written as text.
        let words = if model.contains("veo") { format!("{seconds}s") } else { seconds.to_string() };
        add("duration", json!(words));
    }
    if let Some(negative) = wish.negative {
        add("negative_prompt", json!(negative));
    }
    if let Some(audio) = wish.audio {
        add("generate_audio", json!(audio));
    }
    if let Some(seed) = wish.seed {
        add("seed", json!(seed));
    }
    let named = |ending: &str| {
        let bare = model.trim_end_matches("/text-to-video").trim_end_matches("/image-to-video");
        if model.ends_with(ending) { model.to_owned() } else { format!("{bare}/{ending}") }
    };
    let model = match (wish.first, wish.references) {
        (Some(first), _) => {
            add("image_url", json!(first));
            named("image-to-video")
        }
        (None, []) => model.to_owned(),
        (None, references) => {
            add("image_urls", json!(references));
            named("reference-to-video")
        }
    };
    (model, input)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish<'_> = Wish {
        prompt: "waves",
        model: "fal-ai/veo3.1/fast",
        first: None,
        references: &[],
        duration: Some(8),
        ratio: "16:9",
        resolution: "720p",
        negative: None,
        audio: Some(false),
        seed: None,
    };

    #[test]
    fn words_become_a_request_of_the_model() {
        let (model, input) = request(&WISH);

        assert_eq!(model, "fal-ai/veo3.1/fast");
        assert_eq!(
            input,
            json!({
                "prompt": "waves", "aspect_ratio": "16:9", "resolution": "720p", "duration": "8s",
                "generate_audio": false,
            })
        );
    }

    #[test]
    fn a_picture_to_begin_with_goes_to_its_own_endpoint() {
        let (model, input) = request(&Wish { first: Some("https://a.example/x.png"), ..WISH });

        assert_eq!(
            (model.as_str(), &input["image_url"]),
            ("fal-ai/veo3.1/fast/image-to-video", &json!("https://a.example/x.png"))
        );
    }
}
