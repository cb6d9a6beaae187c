//! `hermes-sms`: text messages.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-sms", "What an agent has when it answers text messages.").tools(CORE_TOOLS);
