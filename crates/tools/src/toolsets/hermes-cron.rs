//! `hermes-cron`: scheduled work.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-cron", "What an agent has when the clock starts it.")
        .tools(CORE_TOOLS)
        .preset_of(&["cron"]);
