//! `todo`: the list for the work at hand.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("todo", "Keep a list of steps for the work at hand.").tools(&["todo"]).configurable();
