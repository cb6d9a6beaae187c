//! Mistral.

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "mistral",
    order: 30,
    keys: &["MISTRAL_API_KEY"],
    base: ("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
    path: "/audio/transcriptions",
    model: ("model", "voxtral-mini-latest"),
    header: ("authorization", "Bearer "),
};
