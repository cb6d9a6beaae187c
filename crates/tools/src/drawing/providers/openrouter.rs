//! `OpenRouter`: models that answer with pictures in a conversation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::drawing::{Image, Provider, Wish, no_image};
use crate::media::service::{Asking, at, bearer};

pub(crate) const PROVIDER: Provider =
    Provider::new("openrouter", KEYS, "google/gemini-2.5-flash-image", draw);

const KEYS: &[&str] = &["OPENROUTER_API_KEY"];

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        let usual = "https://openrouter.ai/api/v1";
        let base = asking.base("image_gen.openrouter.base_url", "OPENROUTER_BASE_URL", usual);
        let mut content = vec![json!({ "type": "text", "text": wish.prompt })];
        let picture = |url: &String| json!({ "type": "image_url", "image_url": { "url": url } });
        content.extend(wish.pictures.iter().map(picture));
        let body = json!({
            "model": wish.model,
            "messages": [{ "role": "user", "content": content }],
            "modalities": ["image", "text"],
            "image_config": { "aspect_ratio": wish.shape.ratio() },
        });
        image(&asking.post(format!("{base}/chat/completions"), &[bearer(&asking.key(KEYS)?)], &body).await?)
    })
}

fn image(answer: &Value) -> Result<Image, ToolError> {
    let message = at(answer, "/choices/0/message");
    let Some(url) = at(message, "/images/0/image_url/url").as_str() else {
        let said = at(message, "/content").as_str().map(str::trim).filter(|said| !said.is_empty());
        return Err(
            said.map_or_else(no_image, |said| ToolError::Failed(format!("the model only said: {said}")))
        );
    };
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((_, data)) => STANDARD.decode(data).map(Image::Bytes).map_err(|_| no_image()),
        None => Ok(Image::Url(url.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_with_the_message_and_words_alone_are_told() {
        let answer = |message: Value| json!({ "choices": [{ "message": message }] });
        let picture = answer(json!({ "images": [{ "image_url": { "url": "data:image/png;base64,AQI=" } }] }));

        assert_eq!(image(&picture).unwrap(), Image::Bytes(vec![1, 2]));
        assert!(
            image(&answer(json!({ "content": "I cannot" }))).unwrap_err().to_string().contains("I cannot")
        );
    }
}
