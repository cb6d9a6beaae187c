//! `fireworks`: open models, fast, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("fireworks", "Fireworks", Wire::Chat, "https://api.fireworks.ai/inference/v1")
        .aliases(&["fireworks-ai"])
        .key(&["FIREWORKS_API_KEY"], "https://app.fireworks.ai/settings/users/api-keys")
        .default_model("accounts/fireworks/models/kimi-k2-instruct-0905")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("accounts/fireworks/models/kimi-k2", 262_144),
    ModelDef::new("accounts/fireworks/models/deepseek-v3", 163_840),
    ModelDef::new("accounts/fireworks/models/gpt-oss", 131_072),
    ModelDef::new("accounts/fireworks/models/qwen3-coder", 262_144),
];
