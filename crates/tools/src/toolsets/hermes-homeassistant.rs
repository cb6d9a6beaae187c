//! `hermes-homeassistant`: conversations with the house.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-homeassistant", "What an agent has when it is spoken to through Home Assistant.")
        .tools(CORE_TOOLS)
        .preset_of(&["homeassistant"]);
