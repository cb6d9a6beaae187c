//! `clarify`: a question back.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("clarify", "Ask the person a question and wait for the answer.")
        .tools(&["clarify"])
        .configurable();
