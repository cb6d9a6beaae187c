//! `x_search`: posts on X.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("x_search", "Search posts, people and threads on X.")
    .tools(&["x_search"])
    .configurable()
    .unlocked_by("XAI_API_KEY");
