//! `safe`: nothing that changes anything here.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("safe", "The web and pictures only: neither commands nor files.").includes(&[
        "web",
        "vision",
        "image_gen",
    ]);
