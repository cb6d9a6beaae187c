//! Work in other places than this machine, through the tools: a real server on loopback, a real container
//! engine, a real Apptainer, doubles of vendors.
//!
//! | module | what it proves |
//! |---|---|
//! | `everything` | every tool works there, and what the place is given of the home |
//! | `asked` | what is asked about, and that the question says where |
//! | `ends` | idle places are stopped; what a killed run left is swept by the next |
//! | `faults` | what is said when a place lets us down, and that nothing is lost |
//! | `pulls` | an image that is fetched is told about meanwhile |

#![expect(clippy::disallowed_methods, reason = "tests start real servers and look at real files")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "the helpers here are part of the tests"
)]

mod asked;
#[path = "../../../env/tests/conformance/doubles.rs"]
#[expect(dead_code, reason = "shared with the suite of environments")]
mod doubles;
mod ends;
mod everything;
mod faults;
mod pulls;
#[path = "../../../env/tests/conformance/sshd.rs"]
mod sshd;
mod support;

/// Where the shared server helper looks for it.
mod processes {
    pub(crate) use crate::support::until;
}
