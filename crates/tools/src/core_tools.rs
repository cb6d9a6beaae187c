//! The core tools: what an agent has on every platform that is not restricted.
//!
//! They are here, outside the folder of toolsets, because most presets are made of them.

/// The core tools and the ones given, as one list.
macro_rules! core_tools_and {
    ($($more:literal),*) => {
        &[
            "web_search",
            "web_extract",
            "terminal",
            "process",
            "read_terminal",
            "close_terminal",
            "read_file",
            "write_file",
            "patch",
            "search_files",
            "vision_analyze",
            "image_generate",
            "skills_list",
            "skill_view",
            "skill_manage",
            "browser_navigate",
            "browser_snapshot",
            "browser_click",
            "browser_type",
            "browser_scroll",
            "browser_back",
            "browser_press",
            "browser_get_images",
            "browser_vision",
            "browser_console",
            "browser_cdp",
            "browser_dialog",
            "text_to_speech",
            "todo",
            "memory",
            "session_search",
            "clarify",
            "execute_code",
            "delegate_task",
            "cronjob",
            "ha_list_entities",
            "ha_get_state",
            "ha_list_services",
            "ha_call_service",
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
            "computer_use",
            $($more,)*
        ]
    };
}

pub(crate) use core_tools_and;

/// The core tools.
pub(crate) const CORE_TOOLS: &[&str] = core_tools_and![];
