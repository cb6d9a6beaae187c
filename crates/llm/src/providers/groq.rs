//! `groq`: open models, very fast, by key.

use crate::provider::{MaxTokens, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("groq", "Groq", Wire::Chat, "https://api.groq.com/openai/v1")
        .key(&["GROQ_API_KEY"], "https://console.groq.com/keys")
        .default_model("openai/gpt-oss-120b")
        .quirks(Quirks { max_tokens: MaxTokens::MaxCompletionTokens, ..Quirks::OPEN_MODELS })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("openai/gpt-oss-120b", 131_072).output(65_536).price(0.15, 0.6, 0.075, 0.0),
    ModelDef::new("openai/gpt-oss-20b", 131_072).output(65_536).price(0.075, 0.3, 0.0375, 0.0),
    ModelDef::new("llama-3.3-70b-versatile", 131_072).output(32_768).price(0.59, 0.79, 0.59, 0.0),
    ModelDef::new("llama-3.1-8b-instant", 131_072).output(131_072).price(0.05, 0.08, 0.05, 0.0),
    ModelDef::new("meta-llama/llama-4-maverick", 131_072).output(8_192).sees().price(0.2, 0.6, 0.2, 0.0),
    ModelDef::new("moonshotai/kimi-k2", 262_144).output(16_384).price(1.0, 3.0, 0.5, 0.0),
    ModelDef::new("qwen/qwen3-32b", 131_072).output(40_960).price(0.29, 0.59, 0.29, 0.0),
];
