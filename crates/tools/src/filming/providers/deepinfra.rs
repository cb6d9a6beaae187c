//! `DeepInfra`: a model is asked by its name, and answers when the film is done.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Map, Value, json};

use crate::filming::{Made, Provider, Wish};
use crate::media::service::{Asking, at, bearer};

pub(crate) const PROVIDER: Provider =
    Provider::new("deepinfra", KEYS, "FastVideo/FastWan-QAD-FP8-1.3B", film);

const KEYS: &[&str] = &["DEEPINFRA_API_KEY"];

fn film<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Made, ToolError>> {
    Box::pin(async move {
        // Its other address speaks the language of OpenAI, which has no films.
        let base = asking.text("video_gen.deepinfra.base_url", "https://api.deepinfra.com/v1/inference");
        let base = base.trim_end_matches('/');
        let model = wish.model.trim_matches('/');
        let key = bearer(&asking.key(KEYS)?);
        let answer = asking.post(format!("{base}/{model}"), &[key], &request(wish)).await?;
        let url = at(&answer, "/video_url").as_str().filter(|url| !url.is_empty());
        let url = url.ok_or_else(|| ToolError::Failed("the service made no film".to_owned()))?;
        Ok(Made { url: whole(base, url), duration: None })
    })
}

/// What the model is told; what nobody asked for is left to it.
fn request(wish: &Wish<'_>) -> Value {
    let orientation = if matches!(wish.ratio, "9:16" | "3:4" | "2:3") { "portrait" } else { "landscape" };
    let mut body = Map::new();
    body.insert("prompt".to_owned(), json!(wish.prompt));
    body.insert("orientation".to_owned(), json!(orientation));
    body.insert("resolution".to_owned(), json!(wish.resolution));
    let more = [
        ("seconds", wish.duration.map(|seconds| json!(seconds))),
        ("negative_prompt", wish.negative.map(|words| json!(words))),
        ("seed", wish.seed.map(|seed| json!(seed))),
        ("image", wish.first.or(wish.references.first().map(String::as_str)).map(|url| json!(url))),
    ];
    body.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Value::Object(body)
}

/// An address as it is, or one of the service itself.
fn whole(base: &str, url: &str) -> String {
    let host = base.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split('/').next()?)));
    match host {
        Some((scheme, host)) if url.starts_with('/') => format!("{scheme}://{host}{url}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_of_the_service_itself_gets_a_whole_address() {
        let base = "https://api.deepinfra.com/v1/inference";

        assert_eq!(whole(base, "/model/inference/x.mp4"), "https://api.deepinfra.com/model/inference/x.mp4");
        assert_eq!(whole(base, "https://cdn.example/x.mp4"), "https://cdn.example/x.mp4");
    }

    #[test]
    fn only_what_was_asked_for_is_told() {
        let wish = Wish {
            prompt: "waves",
            model: "m",
            first: None,
            references: &[],
            duration: Some(5),
            ratio: "9:16",
            resolution: "480p",
            negative: None,
            audio: None,
            seed: None,
        };

        let wanted =
            json!({ "prompt": "waves", "orientation": "portrait", "resolution": "480p", "seconds": 5 });
        assert_eq!(request(&wish), wanted);
    }
}
