//! `kanban`: the task board.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("kanban", "Work on a shared board of tasks: take, report, comment, attach, hand on.").tools(
        &[
            "kanban_show",
            "kanban_list",
            "kanban_complete",
            "kanban_block",
            "kanban_heartbeat",
            "kanban_comment",
            "kanban_create",
            "kanban_link",
            "kanban_unblock",
            "kanban_attach",
            "kanban_attach_url",
            "kanban_attachments",
        ],
    );
