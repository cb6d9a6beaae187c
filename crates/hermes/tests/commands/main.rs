//! Commands in the foreground and in the background, through the road, on this machine.

#![expect(clippy::disallowed_methods, reason = "tests look at real files, processes and the clock")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers here are part of the tests"
)]

mod code;
mod process;
mod support;
mod terminal;
mod torture;
