//! `hermes-email`: mail.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-email", "What an agent has when it answers mail.")
    .tools(CORE_TOOLS)
    .preset_of(&["email"]);
