//! The Model Context Protocol.
//!
//! | module | what |
//! |---|---|
//! | [`client`] | tools of servers that the configuration names |
//! | [`ring`] | servers that lead back to us |
//! | [`oauth`] | how a client gets and keeps the right to ask a server |
//! | [`server`] | our tools for clients of others |
//! | `skim` | messages that are not as they should be |
//! | `unread` | answers that the other side does not take |

pub mod client;
pub mod oauth;
pub mod ring;
pub mod server;
mod skim;
mod unread;
