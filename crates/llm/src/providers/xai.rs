//! `xai`: Grok by key.

use crate::provider::{ModelDef, ProviderDef, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("xai", "xAI", Wire::Responses, "https://api.x.ai/v1")
        .aliases(&["grok", "x-ai"])
        .key(&["XAI_API_KEY"], "https://console.x.ai/")
        .url_env("XAI_BASE_URL")
        .default_model("grok-4")
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("grok-4", 256_000).sees().price(3.0, 15.0, 0.75, 0.0),
    ModelDef::new("grok-4-fast", 2_000_000).sees().price(0.2, 0.5, 0.05, 0.0),
    ModelDef::new("grok-code-fast", 256_000).price(0.2, 1.5, 0.02, 0.0),
    ModelDef::new("grok-3", 131_072).price(3.0, 15.0, 0.75, 0.0),
    ModelDef::new("grok-3-mini", 131_072).price(0.3, 0.5, 0.075, 0.0),
];
