//! `minimax-cn`: `MiniMax` (China), in the language of Anthropic messages.

use crate::provider::{CacheMarks, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("minimax-cn", "MiniMax (China)", Wire::Messages, "https://api.minimaxi.com/anthropic")
        .key(&["MINIMAX_CN_API_KEY"], "https://www.minimaxi.com/")
        .url_env("MINIMAX_CN_BASE_URL")
        .default_model("MiniMax-M2")
        .quirks(Quirks { cache: CacheMarks::All, ..Quirks::OPEN_MODELS })
        .models(MODELS);

const MODELS: &[ModelDef] =
    &[ModelDef::new("minimax-m2", 204_800).output(131_072).price(0.3, 1.2, 0.03, 0.375)];
