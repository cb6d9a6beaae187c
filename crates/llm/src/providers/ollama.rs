//! `ollama`: models on this machine, served by Ollama.

use crate::provider::{ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("ollama", "Ollama", Wire::Chat, "http://127.0.0.1:11434/v1")
        .url_env("OLLAMA_HOST")
        .local(&[11434])
        .quirks(Quirks { thoughts: Thoughts::InTurn("reasoning"), ..Quirks::LOCAL });
