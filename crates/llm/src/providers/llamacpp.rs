//! `llamacpp`: a model on this machine, served by `llama-server`.

use crate::provider::{ProviderDef, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("llamacpp", "llama.cpp", Wire::Chat, "http://127.0.0.1:8080/v1")
        .aliases(&["llama-cpp", "llama.cpp", "llama-server"])
        .local(&[8080]);
