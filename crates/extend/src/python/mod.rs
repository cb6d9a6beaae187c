//! Python tool files: found without being run, run in a process of ours.
//!
//! | file | what |
//! |---|---|
//! | `lex.rs`, `scan.rs` | which files are tool files, by reading them |
//! | `host/` | the process they run in, in Python: its parts are joined in the order of `hosts.rs` |
//! | `hosts.rs` | those processes, one for each set of variables that files need |

mod hosts;
mod lex;
pub mod scan;

pub use hosts::{HostKey, Hosts, Imports, Root, paths};
pub(crate) use hosts::{python, surroundings};
