//! `nvidia`: NVIDIA's hosted models, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("nvidia", "NVIDIA", Wire::Chat, "https://integrate.api.nvidia.com/v1")
        .key(&["NVIDIA_API_KEY"], "https://build.nvidia.com/")
        .url_env("NVIDIA_BASE_URL")
        .default_model("nvidia/llama-3.3-nemotron-super-49b-v1.5")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("nvidia/", 131_072),
    ModelDef::new("meta/llama-3.3-70b-instruct", 131_072),
    ModelDef::new("deepseek-ai/deepseek-v3", 131_072),
];
