//! The pieces a conversation can be cut into: a call and its results are never parted.

use std::ops::Range;

use hermes_core::model::Message;

/// A piece, as the places of its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) range: Range<usize>,
    pub(crate) is_user: bool,
}

/// The pieces of a conversation, in order.
pub(crate) fn blocks(messages: &[Message]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match (message, blocks.last_mut()) {
            (Message::Tool { .. }, Some(block)) if !block.is_user => block.range.end = at + 1,
            _ => blocks.push(Block { range: at..at + 1, is_user: matches!(message, Message::User { .. }) }),
        }
    }
    blocks
}
