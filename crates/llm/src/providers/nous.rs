//! `nous`: the Hermes models at their makers', by key.

use crate::provider::{CacheMarks, EffortStyle, ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("nous", "Nous Research", Wire::Chat, "https://inference-api.nousresearch.com/v1")
        .aliases(&["nous-research", "nousresearch"])
        .key(&["NOUS_API_KEY"], "https://portal.nousresearch.com/")
        .url_env("NOUS_BASE_URL")
        .default_model("Hermes-4-405B")
        .quirks(Quirks {
            cache: CacheMarks::Named(&["claude", "kimi"]),
            effort: EffortStyle::Object,
            thoughts: Thoughts::Details,
            ..Quirks::OPEN_MODELS
        })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("hermes-4-405b", 131_072),
    ModelDef::new("hermes-4-70b", 131_072),
    ModelDef::new("hermes-3", 131_072),
];
