//! `code_execution`: programs that call tools.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("code_execution", "Run a Python program that calls tools itself, for work of many steps.")
        .tools(&["execute_code"])
        .configurable();
