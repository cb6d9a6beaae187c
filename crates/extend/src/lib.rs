//! Foreign tools: MCP servers and clients, Python tool files, plugins, hooks.
//!
//! Everything foreign runs out of process, is supervised, and takes the road like every other tool,
//! in a registry scope of its own.

pub mod digest;
pub mod hooks;
pub mod launch;
pub mod mcp;
pub mod plugins;
pub mod python;
pub mod rpc;
pub mod worker;
