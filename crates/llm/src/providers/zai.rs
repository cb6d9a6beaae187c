//! `zai`: GLM by key.

use crate::provider::{EffortStyle, ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("zai", "Z.AI", Wire::Chat, "https://api.z.ai/api/paas/v4")
        .aliases(&["glm", "z-ai", "zhipu"])
        .key(&["GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"], "https://z.ai/")
        .url_env("GLM_BASE_URL")
        .default_model("glm-4.6")
        .quirks(Quirks {
            effort: EffortStyle::Switch,
            thoughts: Thoughts::InTurn("reasoning_content"),
            ..Quirks::OPEN_MODELS
        })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("glm-4.6", 200_000).output(128_000).price(0.6, 2.2, 0.11, 0.0),
    ModelDef::new("glm-4.6v", 131_072).output(32_768).sees(),
    ModelDef::new("glm-4.5", 131_072).output(98_304).price(0.6, 2.2, 0.11, 0.0),
    ModelDef::new("glm-4.5-air", 131_072).output(98_304).price(0.2, 1.1, 0.03, 0.0),
];
