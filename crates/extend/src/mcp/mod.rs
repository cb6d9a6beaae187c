//! The Model Context Protocol.
//!
//! | module | what |
//! |---|---|
//! | [`client`] | tools of servers that the configuration names |
//! | [`oauth`] | how a client gets and keeps the right to ask a server |
//! | [`server`] | our tools for clients of others |

pub mod client;
pub mod oauth;
pub mod server;
