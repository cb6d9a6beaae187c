//! `hermes-webhook`: calls from anywhere.
//!
//! Restricted: whoever knows the address can talk to it, so nothing comes along that is not
//! named here or in the configuration.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "hermes-webhook",
    "What an agent has when anybody on the network can start it: look things up and ask, no more.",
)
.tools(&["web_search", "web_extract", "vision_analyze", "clarify"])
.restricted()
.preset_of(&["webhook"]);
