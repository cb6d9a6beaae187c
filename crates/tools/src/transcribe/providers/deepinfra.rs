//! `DeepInfra`, in the language of `OpenAI`.

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "deepinfra",
    order: 40,
    keys: &["DEEPINFRA_API_KEY"],
    base: ("DEEPINFRA_BASE_URL", "https://api.deepinfra.com/v1/openai"),
    path: "/audio/transcriptions",
    model: ("model", "openai/whisper-large-v3-turbo"),
    header: ("authorization", "Bearer "),
};
