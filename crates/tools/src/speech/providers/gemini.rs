//! Gemini: bare samples, wrapped here as a WAV file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::media::service::{Asking, at};
use crate::speech::voice::{Provider, Way, Wish};
use crate::speech::wave::wrapped;
use crate::web::answers::encoded;

pub(crate) const PROVIDER: Provider = Provider::new("gemini", 32_000, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["GEMINI_API_KEY", "GOOGLE_API_KEY"];

/// Samples in a second, where the service does not say.
const RATE: u32 = 24_000;

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let usual = "https://generativelanguage.googleapis.com/v1beta";
        let base = asking.base("tts.gemini.base_url", "GEMINI_BASE_URL", usual);
        let model = asking.text("tts.gemini.model", "gemini-2.5-flash-preview-tts");
        let voice = asking.text("tts.gemini.voice", "Kore");
        let body = json!({
            "contents": [{ "parts": [{ "text": wish.text }] }],
            "generationConfig": {
                "responseModalities": ["AUDIO"],
                "speechConfig": { "voiceConfig": { "prebuiltVoiceConfig": { "voiceName": voice } } },
            },
        });
        let url = format!("{base}/models/{}:generateContent", encoded(&model));
        let answer = asking.post(url, &[("x-goog-api-key", asking.key(KEYS)?)], &body).await?;
        sound(&answer).ok_or_else(|| ToolError::Failed("Gemini sent no sound".to_owned()))
    })
}

fn sound(answer: &Value) -> Option<Vec<u8>> {
    let parts = answer.pointer("/candidates/0/content/parts")?.as_array()?;
    let data = parts.iter().find_map(|part| part.get("inlineData"))?;
    let samples = STANDARD.decode(at(data, "/data").as_str()?).ok()?;
    let kind = at(data, "/mimeType").as_str().unwrap_or_default();
    let rate = kind.split("rate=").nth(1).and_then(|rest| rest.split(';').next()?.parse().ok());
    Some(wrapped(&samples, rate.unwrap_or(RATE), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_wrapped_with_the_rate_that_the_service_says() {
        let answer = json!({ "candidates": [{ "content": { "parts": [
            { "inlineData": { "mimeType": "audio/L16;codec=pcm;rate=16000", "data": "AQI=" } },
        ] } }] });

        assert_eq!(sound(&answer), Some(wrapped(&[1, 2], 16_000, 1)));
        assert_eq!(sound(&json!({ "candidates": [] })), None);
    }
}
