//! The built-in tools and toolsets.

use hermes_core::toolset::Toolset;

mod core_tools;
mod toolsets;

/// Every built-in toolset, sorted by name.
pub fn toolsets() -> &'static [&'static Toolset] {
    toolsets::TOOLSETS
}

/// The tools that every preset but the small ones has; disabling a preset leaves them alone.
pub fn core_tools() -> &'static [&'static str] {
    core_tools::CORE_TOOLS
}
