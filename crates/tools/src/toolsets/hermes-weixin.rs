//! `hermes-weixin`: Weixin.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-weixin", "What an agent has on Weixin.").tools(CORE_TOOLS).preset_of(&["weixin"]);
