//! `file`: files.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new("file", "Read, write, change and search files.")
    .tools(&["read_file", "write_file", "patch", "search_files"])
    .configurable()
    .legacy("file_tools", &["read_file", "write_file", "patch", "search_files"]);
