//! `context_engine`: tools of the context engine.
//!
//! It names no tool itself: the engine registers its own under this name.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("context_engine", "Tools that the configured context engine brings along, if it has any.")
        .configurable();
