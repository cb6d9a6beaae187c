//! `vllm`: a model on this machine or in its network, served by vLLM.

use crate::provider::{ProviderDef, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("vllm", "vLLM", Wire::Chat, "http://127.0.0.1:8000/v1")
        .key(&["VLLM_API_KEY"], "")
        .local(&[8000]);
