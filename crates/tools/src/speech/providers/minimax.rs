//! `MiniMax`: the sound comes as hexadecimal text.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use serde_json::{Value, json};

use crate::media::service::{Asking, at, bearer};
use crate::speech::voice::{Format, Provider, Way, Wish};

pub(crate) const PROVIDER: Provider = Provider::new("minimax", 10_000, Way::Service(KEYS, speak));

const KEYS: &[&str] = &["MINIMAX_API_KEY"];

fn speak<'a>(asking: &'a Asking<'a>, wish: Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>> {
    Box::pin(async move {
        let base = asking.base("tts.minimax.base_url", "MINIMAX_TTS_BASE_URL", "https://api.minimax.io");
        let number = |key: &str, usual: f64| {
            asking.keys.setting(&format!("tts.minimax.{key}")).and_then(|it| it.as_f64()).unwrap_or(usual)
        };
        let format = match wish.format {
            Format::Wav => "wav",
            Format::Flac => "flac",
            Format::Mp3 | Format::Ogg => "mp3",
        };
        let body = json!({
            "model": asking.text("tts.minimax.model", "speech-2.6-hd"),
            "text": wish.text,
            "stream": false,
            "voice_setting": {
                "voice_id": asking.text("tts.minimax.voice_id", "English_Graceful_Lady"),
                "speed": number("speed", 1.0),
                "vol": number("vol", 1.0),
                "pitch": asking.keys.setting("tts.minimax.pitch").and_then(|it| it.as_i64()).unwrap_or(0),
            },
            "audio_setting": { "sample_rate": 32_000, "bitrate": 128_000, "format": format, "channel": 1 },
        });
        let key = asking.key(KEYS)?;
        sound(&asking.post(format!("{base}/v1/t2a_v2"), &[bearer(&key)], &body).await?)
    })
}

fn sound(answer: &Value) -> Result<Vec<u8>, ToolError> {
    let status = at(answer, "/base_resp");
    if at(status, "/status_code").as_i64().is_some_and(|code| code != 0) {
        let why = at(status, "/status_msg").as_str().unwrap_or("no reason given");
        return Err(ToolError::Failed(format!("MiniMax answered {}: {why}", at(status, "/status_code"))));
    }
    let text = at(answer, "/data/audio").as_str().unwrap_or_default();
    unhex(text)
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| ToolError::Failed("MiniMax sent no sound".to_owned()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sound_is_read_and_a_refusal_is_told() {
        let good = json!({ "data": { "audio": "49443304", "status": 2 }, "base_resp": { "status_code": 0 } });
        let bad = json!({ "base_resp": { "status_code": 1008, "status_msg": "insufficient balance" } });

        assert_eq!(sound(&good).unwrap(), b"ID3\x04");
        assert!(sound(&bad).unwrap_err().to_string().contains("1008: insufficient balance"));
        assert!(sound(&json!({ "data": { "audio": "4" } })).is_err());
    }
}
