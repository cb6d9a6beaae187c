//! The fence against the real kernel: commands started through the real program, behind it.
//!
//! | module | what it proves |
//! |---|---|
//! | `yard` | a small world: workspace, outside, home with credentials |
//! | `files` | what can be written and read, by every road a process has |
//! | `network` | sockets and signals |
//! | `launch` | what the launcher passes on, and that it fails closed |
//! | `command` | `hermes fence status` and `hermes fence test` |

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests start programs and write the files they find")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

mod command;
mod files;
mod launch;
mod network;
mod yard;
