//! `memory`: what lasts beyond a session.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("memory", "Remember facts about the person and the work from one session to the next.")
        .tools(&["memory"])
        .configurable();
