//! The actions of `hermes mcp`, one file each.

pub(crate) mod serve;
