//! `custom`: any address that speaks one of the wires.

use crate::provider::{ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef = ProviderDef::new("custom", "Custom endpoint", Wire::Chat, "")
    .aliases(&["local", "openai-compatible"])
    .quirks(Quirks::LOCAL);
