//! Another machine over OpenSSH: the system's own client, so that keys, agents, jump hosts and
//! `~/.ssh/config` work as the person is used to.
//!
//! | file | what |
//! |---|---|
//! | `settings.rs` | what can be set |
//! | `words.rs` | the words a client is started with |
//! | `spoken.rs` | a program and its words as one line for whatever shell is at the other end |
//! | `complaints.rs` | what a client complains of, and what can be done about it |
//! | `socket.rs` | the private folder of the shared connection |
//! | `session.rs` | programs over the connection, counted |
//! | `connection.rs` | the connection: made, looked at, made again, closed |

mod complaints;
mod connection;
mod session;
mod settings;
mod socket;
mod spoken;
mod words;

pub(crate) use settings::SshSettings;
