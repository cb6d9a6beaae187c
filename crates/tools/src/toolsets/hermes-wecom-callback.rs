//! `hermes-wecom-callback`: the company messenger, as an application that is called back.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-wecom-callback", "What an agent has on WeCom as an application.")
        .tools(CORE_TOOLS)
        .preset_of(&["wecom_callback"]);
