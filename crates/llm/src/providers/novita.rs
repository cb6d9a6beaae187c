//! `novita`: open models by the token, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("novita", "Novita", Wire::Chat, "https://api.novita.ai/openai/v1")
        .aliases(&["novita-ai"])
        .key(&["NOVITA_API_KEY"], "https://novita.ai/settings/key-management")
        .url_env("NOVITA_BASE_URL")
        .default_model("deepseek/deepseek-v3.1")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("deepseek/deepseek-v3", 131_072),
    ModelDef::new("qwen/qwen3-coder", 262_144),
    ModelDef::new("zai-org/glm-4", 131_072),
];
