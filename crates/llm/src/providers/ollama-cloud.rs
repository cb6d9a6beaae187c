//! `ollama-cloud`: Ollama's hosted models, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("ollama-cloud", "Ollama Cloud", Wire::Chat, "https://ollama.com/v1")
        .key(&["OLLAMA_API_KEY"], "https://ollama.com/settings")
        .url_env("OLLAMA_BASE_URL")
        .default_model("gpt-oss:120b")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("gpt-oss", 131_072),
    ModelDef::new("qwen3-coder", 262_144),
    ModelDef::new("deepseek-v3", 163_840),
    ModelDef::new("kimi-k2", 262_144),
    ModelDef::new("glm-4", 202_752),
];
