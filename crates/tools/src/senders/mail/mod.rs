//! Mail: how one is written, and the conversation with a server that takes it.

pub(crate) mod message;
pub(crate) mod smtp;
