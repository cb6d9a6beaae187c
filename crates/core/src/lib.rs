//! The narrow waist: contracts and pure logic, no I/O.

mod digest;
pub mod loop_guard;
pub mod names;
pub mod shape;
pub mod suggest;
pub mod tool_index;
mod words;
