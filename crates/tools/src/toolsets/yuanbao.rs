//! `yuanbao`: Yuanbao groups.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("yuanbao", "Look up Yuanbao groups and members, and send direct messages and stickers.")
        .tools(&[
            "yb_query_group_info",
            "yb_query_group_members",
            "yb_send_dm",
            "yb_search_sticker",
            "yb_send_sticker",
        ])
        .configurable();
