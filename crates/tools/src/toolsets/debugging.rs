//! `debugging`: what finding a fault takes.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("debugging", "Commands, files and the web, for finding out why something does not work.")
        .tools(&["terminal", "process"])
        .includes(&["web", "file"]);
