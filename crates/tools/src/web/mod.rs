//! The web as `web_search` and `web_extract` see it.
//!
//! | file | what |
//! |---|---|
//! | [`provider`] | what a provider is, and which one is taken |
//! | [`answers`] | what providers answer, read |
//! | [`providers`] | who searches and reads for us, one file each |
//! | [`page`] | what was fetched → text: HTML, feeds, PDF, plain text |
//! | [`excerpt`] | what is shown of a page: of a long one the beginning and end |
//! | [`carries_secret`](address::carries_secret) | addresses that would give something away |

pub(crate) mod address;
pub(crate) mod answers;
pub(crate) mod excerpt;
pub(crate) mod page;
pub(crate) mod provider;
pub(crate) mod providers;

/// Variables that providers use, for setup and documentation.
pub(crate) const KEYS: &[&str] = &[
    "EXA_API_KEY",
    "PARALLEL_API_KEY",
    "TAVILY_API_KEY",
    "FIRECRAWL_API_KEY",
    "FIRECRAWL_API_URL",
    "FIRECRAWL_GATEWAY_URL",
    "TOOL_GATEWAY_DOMAIN",
    "TOOL_GATEWAY_SCHEME",
    "TOOL_GATEWAY_USER_TOKEN",
];
