//! What a model can hold: how much there is, how much is used, and how a conversation is made
//! shorter without losing what matters.
//!
//! | file | what |
//! |---|---|
//! | `tokens` | the size of a text or message, estimated |
//! | `room` | when a conversation is too long for a model |

pub mod room;
pub mod tokens;
