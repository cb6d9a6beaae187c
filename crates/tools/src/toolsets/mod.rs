//! The toolsets, one file each. A file here is a toolset; nothing else lists it.

use hermes_core::toolset::Toolset;

include!(concat!(env!("OUT_DIR"), "/toolsets.rs"));

gathered! {
    /// Every built-in toolset, sorted by name.
    pub(crate) static TOOLSETS: [&Toolset] = TOOLSET;
}
