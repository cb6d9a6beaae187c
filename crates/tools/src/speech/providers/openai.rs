//! `OpenAI`, or whoever speaks its language (`tts.openai.base_url`).

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::media::service::{Asking, bearer};
use crate::speech::voice::{Format, Provider, Way, Wish};

pub(crate) const PROVIDER: Provider = Provider::new("openai", 4_096, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["VOICE_TOOLS_OPENAI_KEY", "OPENAI_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let base = asking.base("tts.openai.base_url", "OPENAI_BASE_URL", "https://api.openai.com/v1");
        let body = request(asking, wish, "openai", ("gpt-4o-mini-tts", "alloy"));
        let key = asking.key(KEYS)?;
        Ok(asking.post_for_bytes(format!("{base}/audio/speech"), &[bearer(&key)], &body).await?.body)
    })
}

/// What is sent, for a section of the settings and its usual model and voice.
pub(crate) fn request(asking: &Asking<'_>, wish: Wish<'_>, section: &str, usual: (&str, &str)) -> Value {
    let format = match wish.format {
        Format::Ogg => "opus",
        other => other.ending(),
    };
    let mut body = json!({
        "model": asking.text(&format!("tts.{section}.model"), usual.0),
        "voice": asking.text(&format!("tts.{section}.voice"), usual.1),
        "input": wish.text,
        "response_format": format,
    });
    let speed = asking.keys.setting(&format!("tts.{section}.speed")).and_then(|value| value.as_f64());
    if let (Some(speed), Some(fields)) = (speed, body.as_object_mut()) {
        fields.insert("speed".to_owned(), json!(speed.clamp(0.25, 4.0)));
    }
    body
}
