//! `mistral`: Mistral by key.

use crate::provider::{CallIds, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("mistral", "Mistral", Wire::Chat, "https://api.mistral.ai/v1")
        .aliases(&["mistralai"])
        .key(&["MISTRAL_API_KEY"], "https://console.mistral.ai/api-keys")
        .default_model("mistral-large-latest")
        .quirks(Quirks { call_ids: CallIds::Nine, stream_options: false, ..Quirks::HOSTED })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("mistral-large", 131_072).sees().price(2.0, 6.0, 2.0, 0.0),
    ModelDef::new("mistral-medium", 131_072).sees().price(0.4, 2.0, 0.4, 0.0),
    ModelDef::new("mistral-small", 131_072).sees().price(0.1, 0.3, 0.1, 0.0),
    ModelDef::new("magistral", 131_072).price(2.0, 5.0, 2.0, 0.0),
    ModelDef::new("devstral", 262_144).price(0.4, 2.0, 0.4, 0.0),
    ModelDef::new("codestral", 262_144).price(0.3, 0.9, 0.3, 0.0),
    ModelDef::new("ministral", 131_072),
    ModelDef::new("pixtral", 131_072).sees(),
];
