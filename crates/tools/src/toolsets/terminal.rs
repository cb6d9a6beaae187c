//! `terminal`: commands.
//!
//! The old name never had `process`.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("terminal", "Run commands and look after the processes they leave running.")
        .tools(&["terminal", "process"])
        .configurable()
        .legacy("terminal_tools", &["terminal"]);
