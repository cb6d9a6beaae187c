//! Mistral: the sound comes as base64 in a document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::media::service::{Asking, at, bearer};
use crate::speech::voice::{Format, Provider, Way, Wish};

pub(crate) const PROVIDER: Provider = Provider::new("mistral", 4_000, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["MISTRAL_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let base = asking.base("tts.mistral.base_url", "MISTRAL_BASE_URL", "https://api.mistral.ai/v1");
        let format = match wish.format {
            Format::Ogg => "opus",
            other => other.ending(),
        };
        let body = json!({
            "model": asking.text("tts.mistral.model", "voxtral-mini-tts-2603"),
            "input": wish.text,
            "voice_id": asking.text("tts.mistral.voice_id", "en_paul_neutral"),
            "response_format": format,
        });
        let key = asking.key(KEYS)?;
        let answer = asking.post(format!("{base}/audio/speech"), &[bearer(&key)], &body).await?;
        let data = at(&answer, "/audio_data").as_str().unwrap_or_default();
        let bad = |_| ToolError::Failed("Mistral sent no sound".to_owned());
        STANDARD.decode(data).map_err(bad)
    })
}
