//! `hermes-telegram`: Telegram.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-telegram", "What an agent has on Telegram.")
    .tools(CORE_TOOLS)
    .preset_of(&["telegram"]);
