//! `hermes mcp serve` driven by clients that others wrote: the Python SDK with both generations of
//! the protocol, the inspector, the official conformance suite. The testbed `mcp` says where they are.
//!
//! | module | what it proves |
//! |---|---|
//! | `bare` | the pipe itself: what is written to it, and how the server ends |
//! | `sdk` | the Python SDK lists, calls, approves, cancels; over the pipe and over HTTP |
//! | `inspector` | the inspector's command line lists and calls |
//! | `http` | who is let in |

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the tests start programs and write the files they find")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers are part of the tests"
)]

#[path = "../cli/home.rs"]
#[expect(dead_code, reason = "shared with the other tests, which use more of it")]
mod home;

mod bare;
mod http;
mod inspector;
mod sdk;
mod served;

use std::ffi::OsString;

/// A program of the testbed; none where it is not prepared, which is a failure in CI.
fn testbed(name: &str) -> Option<OsString> {
    let found = std::env::var_os(name);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "the testbed mcp is not prepared");
        eprintln!("NOT RUN: {name} is not set; scripts/testbeds/mcp prepares it");
    }
    found
}
