//! `project`: projects.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("project", "List projects, start a new one, and switch between them.").tools(&[
        "project_list",
        "project_create",
        "project_switch",
    ]);
