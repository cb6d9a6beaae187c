//! xAI, which has one model for this and wants no name of it.

use crate::transcribe::Provider;

pub(crate) const PROVIDER: Provider = Provider {
    name: "xai",
    order: 45,
    keys: &["XAI_API_KEY"],
    base: ("XAI_BASE_URL", "https://api.x.ai/v1"),
    path: "/stt",
    model: ("", "stt"),
    header: ("authorization", "Bearer "),
};
