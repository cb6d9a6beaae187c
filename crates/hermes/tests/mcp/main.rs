//! Tools of MCP servers, through the whole runtime: a scripted server that misbehaves, and servers
//! that others wrote.

#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files, processes, the clock and the environment"
)]

mod faults;
mod others;
mod pins;
mod questions;
mod support;
