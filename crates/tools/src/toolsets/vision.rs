//! `vision`: pictures, looked at.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("vision", "Look at a picture and answer questions about it.")
        .tools(&["vision_analyze"])
        .configurable()
        .legacy("vision_tools", &["vision_analyze"]);
