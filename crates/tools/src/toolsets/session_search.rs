//! `session_search`: earlier conversations.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("session_search", "Search earlier sessions and read what was said in them.")
        .tools(&["session_search"])
        .configurable();
