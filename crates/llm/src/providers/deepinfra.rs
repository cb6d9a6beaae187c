//! `deepinfra`: open models by the token, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("deepinfra", "DeepInfra", Wire::Chat, "https://api.deepinfra.com/v1/openai")
        .aliases(&["deep-infra"])
        .key(&["DEEPINFRA_API_KEY"], "https://deepinfra.com/dash/api_keys")
        .url_env("DEEPINFRA_BASE_URL")
        .default_model("deepseek-ai/DeepSeek-V3.1")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("deepseek-ai/deepseek-v3", 163_840),
    ModelDef::new("qwen/qwen3-coder", 262_144),
    ModelDef::new("openai/gpt-oss", 131_072),
    ModelDef::new("meta-llama/llama-3.3-70b-instruct", 131_072),
];
