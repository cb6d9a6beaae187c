//! `coding`: work on code.
//!
//! A posture: it takes the place of other toolsets while the work is on code, and disabling it
//! takes no core tool away.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "coding",
    "What work on a code base needs, without pictures, speech, schedules and the house.",
)
.tools(&[
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
    "clarify",
    "execute_code",
    "delegate_task",
])
.posture();
