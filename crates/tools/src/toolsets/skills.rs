//! `skills`: written-down know-how.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("skills", "List, read and write skills: notes on how a kind of work is done.")
        .tools(&["skills_list", "skill_view", "skill_manage"])
        .configurable()
        .legacy("skills_tools", &["skills_list", "skill_view", "skill_manage"]);
