//! Foreign tools: MCP servers and clients, Python tool files, plugins, hooks.
//!
//! Everything foreign runs out of process, is supervised, and takes the road like every other tool,
//! in a registry scope of its own.

mod cleared;
pub mod digest;
pub mod hooks;
mod last_words;
pub mod launch;
mod letters;
pub mod mcp;
pub mod plugins;
pub mod python;
pub mod rpc;
pub mod worker;

/// Most of what could be said is not, and is then not written: a start reads it all.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
