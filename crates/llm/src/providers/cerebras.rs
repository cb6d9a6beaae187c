//! `cerebras`: open models, very fast, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("cerebras", "Cerebras", Wire::Chat, "https://api.cerebras.ai/v1")
        .key(&["CEREBRAS_API_KEY"], "https://cloud.cerebras.ai/")
        .default_model("gpt-oss-120b")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("gpt-oss-120b", 131_072).price(0.35, 0.75, 0.35, 0.0),
    ModelDef::new("qwen-3", 131_072),
    ModelDef::new("zai-glm-4", 131_072),
    ModelDef::new("llama-3.3-70b", 131_072),
];
