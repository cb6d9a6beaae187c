//! `image_gen`: pictures, made.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("image_gen", "Make pictures from a description.")
    .tools(&["image_generate"])
    .configurable()
    .legacy("image_tools", &["image_generate"]);
