//! `hermes-cli`: the command line.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-cli", "What an agent has on the command line.")
    .tools(CORE_TOOLS)
    .preset_of(&["cli"]);
