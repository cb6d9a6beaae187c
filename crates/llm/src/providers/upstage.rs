//! `upstage`: Solar, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("upstage", "Upstage", Wire::Chat, "https://api.upstage.ai/v1")
        .aliases(&["solar"])
        .key(&["UPSTAGE_API_KEY"], "https://console.upstage.ai/api-keys")
        .url_env("UPSTAGE_BASE_URL")
        .default_model("solar-pro2")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("solar-pro2", 65_536).price(0.15, 0.6, 0.15, 0.0),
    ModelDef::new("solar-pro", 32_768),
    ModelDef::new("solar-mini", 32_768),
];
