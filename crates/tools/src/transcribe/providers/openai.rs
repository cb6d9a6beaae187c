//! `OpenAI`, or whoever speaks its language (`stt.openai.base_url`).

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "openai",
    order: 20,
    keys: &["VOICE_TOOLS_OPENAI_KEY", "OPENAI_API_KEY"],
    base: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    path: "/audio/transcriptions",
    model: ("model", "whisper-1"),
    header: ("authorization", "Bearer "),
};
