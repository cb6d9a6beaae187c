//! `ElevenLabs`.

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "elevenlabs",
    order: 50,
    keys: &["ELEVENLABS_API_KEY"],
    base: ("ELEVENLABS_BASE_URL", "https://api.elevenlabs.io"),
    path: "/v1/speech-to-text",
    model: ("model_id", "scribe_v1"),
    header: ("xi-api-key", ""),
};
