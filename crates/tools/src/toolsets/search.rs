//! `search`: the web, searched but not read.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("search", "Search the web without fetching any page.").tools(&["web_search"]);
