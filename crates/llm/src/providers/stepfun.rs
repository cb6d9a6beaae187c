//! `stepfun`: Step, by key.

use crate::provider::{ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("stepfun", "StepFun", Wire::Chat, "https://api.stepfun.com/v1")
        .aliases(&["step"])
        .key(&["STEPFUN_API_KEY"], "https://platform.stepfun.com/")
        .url_env("STEPFUN_BASE_URL")
        .default_model("step-3")
        .quirks(Quirks::OPEN_MODELS)
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("step-3", 65_536).sees(),
    ModelDef::new("step-2", 16_384),
    ModelDef::new("step-1v", 32_768).sees(),
];
