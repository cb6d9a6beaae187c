//! xAI.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::json;

use crate::media::service::{Asking, bearer};
use crate::speech::voice::{Format, Provider, Way, Wish};

pub(crate) const PROVIDER: Provider = Provider::new("xai", 15_000, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["XAI_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let base = asking.base("tts.xai.base_url", "XAI_BASE_URL", "https://api.x.ai/v1");
        let format = match wish.format {
            Format::Wav => json!({ "codec": "wav", "sample_rate": 24_000 }),
            Format::Mp3 | Format::Ogg | Format::Flac => {
                json!({ "codec": "mp3", "sample_rate": 24_000, "bit_rate": 128_000 })
            }
        };
        let body = json!({
            "text": wish.text,
            "voice_id": asking.text("tts.xai.voice_id", "eve"),
            "language": asking.text("tts.xai.language", "auto"),
            "output_format": format,
        });
        let key = asking.key(KEYS)?;
        Ok(asking.post_for_bytes(format!("{base}/tts"), &[bearer(&key)], &body).await?.body)
    })
}
