//! `hermes-dingtalk`: the company messenger of that name.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-dingtalk", "What an agent has on DingTalk.")
    .tools(CORE_TOOLS)
    .preset_of(&["dingtalk"]);
