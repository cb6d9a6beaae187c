//! `hermes-yuanbao`: Yuanbao.

use hermes_core::toolset::Toolset;

use crate::core_tools::core_tools_and;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-yuanbao", "What an agent has on Yuanbao, with its groups and stickers.")
        .tools(core_tools_and![
            "yb_query_group_info",
            "yb_query_group_members",
            "yb_send_dm",
            "yb_search_sticker",
            "yb_send_sticker"
        ])
        .preset_of(&["yuanbao"]);
