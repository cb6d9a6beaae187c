//! `huggingface`: open models behind the Hugging Face router, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("huggingface", "Hugging Face", Wire::Chat, "https://router.huggingface.co/v1")
        .aliases(&["hf"])
        .key(&["HF_TOKEN"], "https://huggingface.co/settings/tokens")
        .url_env("HF_BASE_URL")
        .default_model("openai/gpt-oss-120b")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("openai/gpt-oss", 131_072),
    ModelDef::new("qwen/qwen3-coder", 262_144),
    ModelDef::new("deepseek-ai/deepseek-v3", 131_072),
    ModelDef::new("meta-llama/llama-3.3-70b-instruct", 131_072),
];
