//! `ElevenLabs`.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::media::service::Asking;
use crate::speech::voice::{Format, Provider, Way, Wish};
use crate::web::answers::encoded;

pub(crate) const PROVIDER: Provider = Provider::new("elevenlabs", 10_000, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["ELEVENLABS_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let base = asking.base("tts.elevenlabs.base_url", "ELEVENLABS_BASE_URL", "https://api.elevenlabs.io");
        let voice = asking.text("tts.elevenlabs.voice_id", "pNInz6obpgDQGcFmaJgB");
        let format = match wish.format {
            Format::Ogg => "opus_48000_64",
            Format::Wav => "wav_44100",
            Format::Mp3 | Format::Flac => "mp3_44100_128",
        };
        let url = format!("{base}/v1/text-to-speech/{}?output_format={format}", encoded(&voice));
        let model = asking.text("tts.elevenlabs.model_id", "eleven_multilingual_v2");
        let body = json!({ "text": wish.text, "model_id": model });
        Ok(asking.post_for_bytes(url, &[("xi-api-key", asking.key(KEYS)?)], &body).await?.body)
    })
}
