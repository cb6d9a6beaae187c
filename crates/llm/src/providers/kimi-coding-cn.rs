//! `kimi-coding-cn`: Kimi by a key of its Chinese platform.

use crate::provider::{ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("kimi-coding-cn", "Moonshot Kimi (China)", Wire::Chat, "https://api.moonshot.cn/v1")
        .aliases(&["kimi-cn", "moonshot-cn"])
        .key(&["KIMI_CN_API_KEY"], "https://platform.moonshot.cn/")
        .default_model("kimi-k2-turbo-preview")
        .quirks(Quirks { thoughts: Thoughts::Always("reasoning_content"), ..Quirks::OPEN_MODELS })
        .models(MODELS);

const MODELS: &[ModelDef] =
    &[ModelDef::new("kimi-k2", 262_144), ModelDef::new("kimi-latest", 131_072).sees()];
