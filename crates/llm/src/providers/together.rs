//! `together`: open models by the token, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("together", "Together", Wire::Chat, "https://api.together.xyz/v1")
        .aliases(&["together-ai", "togetherai"])
        .key(&["TOGETHER_API_KEY"], "https://api.together.ai/settings/api-keys")
        .default_model("moonshotai/Kimi-K2-Instruct-0905")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("moonshotai/kimi-k2", 262_144),
    ModelDef::new("deepseek-ai/deepseek-v3", 131_072),
    ModelDef::new("openai/gpt-oss", 131_072),
    ModelDef::new("qwen/qwen3-coder", 262_144),
    ModelDef::new("meta-llama/llama-3.3-70b-instruct", 131_072),
    ModelDef::new("meta-llama/llama-4-maverick", 1_048_576).sees(),
];
