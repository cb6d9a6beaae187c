//! `hermes-feishu`: Feishu.

use hermes_core::toolset::Toolset;

use crate::core_tools::core_tools_and;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-feishu", "What an agent has on Feishu, with its documents and comments.")
        .tools(core_tools_and![
            "feishu_doc_read",
            "feishu_drive_list_comments",
            "feishu_drive_list_comment_replies",
            "feishu_drive_reply_comment",
            "feishu_drive_add_comment"
        ])
        .preset_of(&["feishu"]);
