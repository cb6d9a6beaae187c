//! `hermes-api-server`: programs, by the HTTP interface.
//!
//! Without questions back and speech: nobody may be there to answer or to listen.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-api-server", "What an agent has when a program calls it over HTTP.")
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
            "todo",
            "memory",
            "session_search",
            "execute_code",
            "delegate_task",
            "cronjob",
            "ha_list_entities",
            "ha_get_state",
            "ha_list_services",
            "ha_call_service",
        ])
        .preset_of(&["api_server"]);
