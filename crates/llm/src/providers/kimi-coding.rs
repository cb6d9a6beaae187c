//! `kimi-coding`: Kimi by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("kimi-coding", "Moonshot Kimi", Wire::Chat, "https://api.moonshot.ai/v1")
        .aliases(&["kimi", "moonshot"])
        .key(&["KIMI_API_KEY", "KIMI_CODING_API_KEY", "MOONSHOT_API_KEY"], "https://platform.moonshot.ai/")
        .url_env("KIMI_BASE_URL")
        .default_model("kimi-k2-turbo-preview")
        .quirks(Quirks { thoughts: Thoughts::Always("reasoning_content"), ..Quirks::OPEN_MODELS })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("kimi-k2", 262_144).price(0.6, 2.5, 0.15, 0.0),
    ModelDef::new("kimi-k2-turbo", 262_144).price(1.15, 8.0, 0.15, 0.0),
    ModelDef::new("kimi-k2-thinking", 262_144).price(0.6, 2.5, 0.15, 0.0),
    ModelDef::new("kimi-latest", 131_072).sees(),
    ModelDef::new("moonshot-v1-128k", 131_072),
];
