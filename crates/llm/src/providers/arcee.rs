//! `arcee`: Arcee's models, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("arcee", "Arcee", Wire::Chat, "https://api.arcee.ai/api/v1")
        .aliases(&["arcee-ai"])
        .key(&["ARCEEAI_API_KEY", "ARCEE_API_KEY"], "https://chat.arcee.ai/")
        .url_env("ARCEE_BASE_URL")
        .default_model("trinity-mini")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("trinity", 131_072),
    ModelDef::new("virtuoso", 131_072),
    ModelDef::new("afm-4.5b", 65_536),
];
