//! `computer_use`: the desktop, by mouse and keyboard.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("computer_use", "Use the programs on the screen with mouse and keyboard.")
        .tools(&["computer_use"])
        .configurable();
