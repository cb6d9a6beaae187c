//! `hermes-qqbot`: QQ.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-qqbot", "What an agent has on QQ.").tools(CORE_TOOLS).preset_of(&["qqbot"]);
