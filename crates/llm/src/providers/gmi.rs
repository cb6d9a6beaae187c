//! `gmi`: open models by the token, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("gmi", "GMI Cloud", Wire::Chat, "https://api.gmi-serving.com/v1")
        .aliases(&["gmi-cloud"])
        .key(&["GMI_API_KEY"], "https://www.gmicloud.ai/")
        .url_env("GMI_BASE_URL")
        .default_model("deepseek-ai/DeepSeek-V3.1")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] =
    &[ModelDef::new("deepseek-ai/deepseek-v3", 131_072), ModelDef::new("openai/gpt-oss", 131_072)];
