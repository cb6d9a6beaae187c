//! `feishu_drive`: comments on Feishu files.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("feishu_drive", "Read, answer and add comments on files in Feishu Drive.").tools(&[
        "feishu_drive_list_comments",
        "feishu_drive_list_comment_replies",
        "feishu_drive_reply_comment",
        "feishu_drive_add_comment",
    ]);
