//! `hermes-acp`: code editors, by the Agent Client Protocol.
//!
//! Without questions back and speech: the editor has its own ways for both.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("hermes-acp", "What an agent has inside a code editor.")
    .tools(&[
        "web_search",
        "web_extract",
        "terminal",
        "process",
        "read_file",
        "write_file",
        "patch",
        "search_files",
        "vision_analyze",
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
        "todo",
        "memory",
        "session_search",
        "execute_code",
        "delegate_task",
    ]);
