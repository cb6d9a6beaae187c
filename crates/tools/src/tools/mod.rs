//! The built-in tools, one file each. A file here is a tool; nothing else lists it.

use hermes_core::tool::ToolDef;

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

gathered! {
    /// Every built-in tool, sorted by name.
    pub(crate) static TOOLS: [&ToolDef] = TOOL;
}
