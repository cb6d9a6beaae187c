//! `deepseek`: `DeepSeek` by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("deepseek", "DeepSeek", Wire::Chat, "https://api.deepseek.com/v1")
        .key(&["DEEPSEEK_API_KEY"], "https://platform.deepseek.com/api_keys")
        .url_env("DEEPSEEK_BASE_URL")
        .default_model("deepseek-chat")
        .quirks(Quirks { thoughts: Thoughts::InTurn("reasoning_content"), ..Quirks::OPEN_MODELS })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("deepseek-chat", 131_072).output(8_192).price(0.28, 0.42, 0.028, 0.0),
    ModelDef::new("deepseek-reasoner", 131_072).output(65_536).price(0.28, 0.42, 0.028, 0.0),
];
