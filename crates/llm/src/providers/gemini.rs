//! `gemini`: Google AI Studio by its OpenAI-compatible face.

use crate::provider::{EffortStyle, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef = ProviderDef::new(
    "gemini",
    "Google Gemini",
    Wire::Chat,
    "https://generativelanguage.googleapis.com/v1beta/openai",
)
.aliases(&["google", "google-ai-studio", "google-gemini"])
.key(&["GOOGLE_API_KEY", "GEMINI_API_KEY"], "https://aistudio.google.com/app/apikey")
.url_env("GEMINI_BASE_URL")
.default_model("gemini-2.5-pro")
.quirks(Quirks { effort: EffortStyle::Word, ..Quirks::HOSTED })
.models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("gemini-3-pro", 1_048_576).output(65_536).sees().price(2.0, 12.0, 0.2, 0.0),
    ModelDef::new("gemini-2.5-pro", 1_048_576).output(65_536).sees().price(1.25, 10.0, 0.31, 0.0),
    ModelDef::new("gemini-2.5-flash", 1_048_576).output(65_536).sees().price(0.3, 2.5, 0.075, 0.0),
    ModelDef::new("gemini-2.5-flash-lite", 1_048_576).output(65_536).sees().price(0.1, 0.4, 0.025, 0.0),
    ModelDef::new("gemini-2.0-flash", 1_048_576).output(8_192).sees().price(0.1, 0.4, 0.025, 0.0),
    ModelDef::new("gemma-3", 131_072).output(8_192).sees(),
];
