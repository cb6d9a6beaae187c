//! The browser tools in a real Chromium, on pages of servers of this machine.
//!
//! The pages live on two ports of the loopback address, of which the settings open one: what is on the
//! other must never be reached, whatever a page tries.

#![expect(
    clippy::disallowed_methods,
    reason = "a test brings its own server and home, and looks at processes"
)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::panic,
    reason = "a helper of a test fails like a test"
)]

mod acts;
mod dialogs;
mod ends;
mod gate;
mod looks;
mod server;
mod shared;
