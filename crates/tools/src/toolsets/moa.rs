//! `moa`: several models on one question.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("moa", "Ask several models and let one of them make the best answer of theirs.")
        .tools(&["mixture_of_agents"])
        .configurable()
        .default_off();
