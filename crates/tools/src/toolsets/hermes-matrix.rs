//! `hermes-matrix`: Matrix.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-matrix", "What an agent has on Matrix.").tools(CORE_TOOLS).preset_of(&["matrix"]);
