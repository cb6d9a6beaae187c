//! `lmstudio`: models on this machine, served by LM Studio.

use crate::provider::{ProviderDef, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("lmstudio", "LM Studio", Wire::Chat, "http://127.0.0.1:1234/v1")
        .aliases(&["lm-studio"])
        .key(&["LM_API_KEY"], "")
        .url_env("LM_BASE_URL")
        .local(&[1234]);
