//! `anthropic`: Claude, in its own language.

use crate::provider::{CacheMarks, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("anthropic", "Anthropic", Wire::Messages, "https://api.anthropic.com")
        .aliases(&["claude"])
        .key(&["ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN"], "https://console.anthropic.com/settings/keys")
        .url_env("ANTHROPIC_BASE_URL")
        .default_model("claude-sonnet-4-5")
        .quirks(Quirks { cache: CacheMarks::All, ..Quirks::HOSTED })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("claude-opus-4-5", 200_000).output(64_000).sees().price(5.0, 25.0, 0.5, 6.25),
    ModelDef::new("claude-opus-4-1", 200_000).output(32_000).sees().price(15.0, 75.0, 1.5, 18.75),
    ModelDef::new("claude-opus-4", 200_000).output(32_000).sees().price(15.0, 75.0, 1.5, 18.75),
    ModelDef::new("claude-sonnet-4-5", 200_000).output(64_000).sees().price(3.0, 15.0, 0.3, 3.75),
    ModelDef::new("claude-sonnet-4", 200_000).output(64_000).sees().price(3.0, 15.0, 0.3, 3.75),
    ModelDef::new("claude-haiku-4-5", 200_000).output(64_000).sees().price(1.0, 5.0, 0.1, 1.25),
    ModelDef::new("claude-3-7-sonnet", 200_000).output(64_000).sees().price(3.0, 15.0, 0.3, 3.75),
    ModelDef::new("claude-3-5-haiku", 200_000).output(8_192).sees().price(0.8, 4.0, 0.08, 1.0),
    ModelDef::new("claude-3-haiku", 200_000).output(4_096).sees().price(0.25, 1.25, 0.03, 0.3),
    ModelDef::new("claude", 200_000).output(32_000).sees(),
];
