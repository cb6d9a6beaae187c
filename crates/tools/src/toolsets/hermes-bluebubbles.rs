//! `hermes-bluebubbles`: iMessage, through a Mac that forwards it.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-bluebubbles", "What an agent has on iMessage through BlueBubbles.")
        .tools(CORE_TOOLS)
        .preset_of(&["bluebubbles"]);
