//! `web`: the web, searched and read.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("web", "Search the web and read the pages that turn up.")
    .tools(&["web_search", "web_extract"])
    .configurable()
    .legacy("web_tools", &["web_search", "web_extract"]);
