//! The built-in tools and toolsets: one file each, in `tools/` and `toolsets/`.
//!
//! What a tool needs beyond its file, or several tools share, is a module beside these folders.

use hermes_core::tool::ToolDef;
use hermes_core::toolset::Toolset;

mod command;
mod core_tools;
mod tools;
mod toolsets;

pub use command::settings::TerminalSettings;

/// Every built-in tool, sorted by name.
pub fn tools() -> &'static [&'static ToolDef] {
    tools::TOOLS
}

/// Every built-in toolset, sorted by name.
pub fn toolsets() -> &'static [&'static Toolset] {
    toolsets::TOOLSETS
}

/// The tools that every preset but the small ones has; disabling a preset leaves them alone.
pub fn core_tools() -> &'static [&'static str] {
    core_tools::CORE_TOOLS
}
