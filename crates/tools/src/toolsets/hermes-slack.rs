//! `hermes-slack`: Slack.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-slack", "What an agent has on Slack.").tools(CORE_TOOLS).preset_of(&["slack"]);
