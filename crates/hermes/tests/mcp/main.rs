//! Tools of MCP servers, through the whole runtime: a scripted server that misbehaves, and servers
//! that others wrote.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests look at files, processes, the clock and the environment, and stop where something is wrong"
)]

mod asked;
mod beside;
mod faults;
mod http_faults;
mod odd;
mod others;
mod pins;
mod promises;
mod questions;
mod rights;
mod starts;
mod support;
