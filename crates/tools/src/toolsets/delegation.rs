//! `delegation`: other agents.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("delegation", "Give part of the work to other agents that start with a fresh context.")
        .tools(&["delegate_task"])
        .configurable();
