//! `cronjob`: work at set times.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("cronjob", "Plan work for later or for every so often, and manage what is planned.")
        .tools(&["cronjob"])
        .configurable()
        .legacy("cronjob_tools", &["cronjob"]);
