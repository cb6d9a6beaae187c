//! `hermes-whatsapp`: the messenger, by phone or by its cloud interface.

use hermes_core::toolset::Toolset;

use crate::core_tools::CORE_TOOLS;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-whatsapp", "What an agent has on WhatsApp.")
    .tools(CORE_TOOLS)
    .preset_of(&["whatsapp", "whatsapp_cloud"]);
