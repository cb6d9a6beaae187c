//! `discord_admin`: Discord, as an administrator.
//!
//! It needs a session on Discord to act in, hence that platform only.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("discord_admin", "Manage Discord servers: members, roles, channels and messages.")
        .tools(&["discord_admin"])
        .configurable()
        .default_off()
        .only_on(&["discord"]);
