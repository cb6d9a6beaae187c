//! `openai-api`: `OpenAI` by key, in the language of responses.

use crate::provider::{EffortStyle, MaxTokens, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("openai-api", "OpenAI", Wire::Responses, "https://api.openai.com/v1")
        .aliases(&["openai"])
        .key(&["OPENAI_API_KEY"], "https://platform.openai.com/api-keys")
        .url_env("OPENAI_BASE_URL")
        .default_model("gpt-5")
        .quirks(Quirks {
            max_tokens: MaxTokens::MaxCompletionTokens,
            developer: true,
            effort: EffortStyle::Word,
            ..Quirks::HOSTED
        })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("gpt-5", 400_000).output(128_000).sees().price(1.25, 10.0, 0.125, 0.0),
    ModelDef::new("gpt-5-mini", 400_000).output(128_000).sees().price(0.25, 2.0, 0.025, 0.0),
    ModelDef::new("gpt-5-nano", 400_000).output(128_000).sees().price(0.05, 0.4, 0.005, 0.0),
    ModelDef::new("gpt-5-pro", 400_000).output(272_000).sees().price(15.0, 120.0, 15.0, 0.0),
    ModelDef::new("gpt-4.1", 1_047_576).output(32_768).sees().price(2.0, 8.0, 0.5, 0.0),
    ModelDef::new("gpt-4.1-mini", 1_047_576).output(32_768).sees().price(0.4, 1.6, 0.1, 0.0),
    ModelDef::new("gpt-4.1-nano", 1_047_576).output(32_768).sees().price(0.1, 0.4, 0.025, 0.0),
    ModelDef::new("gpt-4o", 128_000).output(16_384).sees().price(2.5, 10.0, 1.25, 0.0),
    ModelDef::new("gpt-4o-mini", 128_000).output(16_384).sees().price(0.15, 0.6, 0.075, 0.0),
    ModelDef::new("o3", 200_000).output(100_000).sees().price(2.0, 8.0, 0.5, 0.0),
    ModelDef::new("o4-mini", 200_000).output(100_000).sees().price(1.1, 4.4, 0.275, 0.0),
];
