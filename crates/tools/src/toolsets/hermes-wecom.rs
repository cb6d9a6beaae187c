//! `hermes-wecom`: the company messenger, as a bot.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-wecom", "What an agent has on WeCom as a bot.")
    .tools(CORE_TOOLS)
    .preset_of(&["wecom"]);
