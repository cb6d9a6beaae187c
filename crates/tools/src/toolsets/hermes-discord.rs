//! `hermes-discord`: Discord.

use hermes_core::toolset::Toolset;

use crate::core_tools::core_tools_and;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-discord", "What an agent has on Discord, with the tools for Discord itself.")
        .tools(core_tools_and!["discord", "discord_admin"])
        .preset_of(&["discord"]);
