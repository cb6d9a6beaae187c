//! The Model Context Protocol.

pub mod server;
