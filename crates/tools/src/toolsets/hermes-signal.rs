//! `hermes-signal`: Signal.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-signal", "What an agent has on Signal.").tools(CORE_TOOLS).preset_of(&["signal"]);
