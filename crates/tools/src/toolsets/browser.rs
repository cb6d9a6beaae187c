//! `browser`: a web browser.
//!
//! A browser is of little use without a way to find pages, so the search comes with it. The old
//! name stands for the tools there were then.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "browser",
    "Use web pages in a real browser: open, click, type, scroll and look, with a search to find them.",
)
.tools(&[
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
    "browser_cdp",
    "browser_dialog",
    "web_search",
])
.configurable()
.legacy(
    "browser_tools",
    &[
        "browser_navigate",
        "browser_snapshot",
        "browser_click",
        "browser_type",
        "browser_scroll",
        "browser_back",
        "browser_press",
        "browser_get_images",
        "browser_vision",
        "browser_console",
    ],
);
