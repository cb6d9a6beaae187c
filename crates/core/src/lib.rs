//! The narrow waist: contracts and pure logic, no I/O.

pub mod call;
mod digest;
pub mod effect;
pub mod error;
pub mod files;
pub mod host;
pub mod loop_guard;
pub mod names;
pub mod permit;
pub mod shape;
pub mod suggest;
pub mod tool_index;
pub mod toolset;
mod words;
