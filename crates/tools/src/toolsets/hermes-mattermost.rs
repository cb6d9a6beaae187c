//! `hermes-mattermost`: Mattermost.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-mattermost", "What an agent has on Mattermost.")
    .tools(CORE_TOOLS)
    .preset_of(&["mattermost"]);
