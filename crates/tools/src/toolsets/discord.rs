//! `discord`: Discord, as a member.
//!
//! It needs a session on Discord to act in, hence that platform only.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("discord", "Read channels and take part on Discord servers.")
        .tools(&["discord"])
        .configurable()
        .default_off()
        .only_on(&["discord"]);
