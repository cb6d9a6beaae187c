//! Groq, in the language of `OpenAI`.

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "groq",
    order: 10,
    keys: &["GROQ_API_KEY"],
    base: ("GROQ_BASE_URL", "https://api.groq.com/openai/v1"),
    path: "/audio/transcriptions",
    model: ("model", "whisper-large-v3-turbo"),
    header: ("authorization", "Bearer "),
};
