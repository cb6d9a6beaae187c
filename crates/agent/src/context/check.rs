//! What must hold of a shortened conversation before it takes the place of the old one.

use hermes_core::model::{Message, Part};

use super::plan::Need;
use super::{head, note, tokens};
use crate::history::tidy;

/// What would be lost or broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("it would not be shorter")]
    NotShorter,
    #[error("it would lose the task")]
    TaskLost,
    #[error("it would lose what was said last")]
    LastWordsLost,
    #[error("it would lose what is still to do")]
    TodosLost,
    #[error("it would part a call from its result")]
    OutOfOrder,
}

/// As much of long words as has to be there.
const ENOUGH: usize = 800;

/// Whether the new conversation may take the place of the old one.
pub(crate) fn check(old: &[Message], new: &[Message], need: &Need<'_>) -> Result<(), Violation> {
    if tokens::of_messages(new) >= tokens::of_messages(old) {
        return Err(Violation::NotShorter);
    }
    if !says(new.iter().find_map(words), old.iter().find_map(words)) {
        return Err(Violation::TaskLost);
    }
    if !says(new.iter().rev().find_map(words), old.iter().rev().find_map(words)) {
        return Err(Violation::LastWordsLost);
    }
    let todos = need.todos.map(str::trim).unwrap_or_default();
    if !new.iter().any(|message| mentions(message, todos)) {
        return Err(Violation::TodosLost);
    }
    // A conversation of somebody else's making may have been out of order before.
    if tidy(new.to_vec()) != new && tidy(old.to_vec()) == old {
        return Err(Violation::OutOfOrder);
    }
    Ok(())
}

/// The words of the person in a message, without summaries.
fn words(message: &Message) -> Option<Vec<&str>> {
    let Message::User { content } = message else { return None };
    let texts = content.iter().filter(|part| !note::is_note(part)).filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    Some(texts.collect())
}

/// Whether the new words are the old ones, or begin as they do when those are long.
fn says(new: Option<Vec<&str>>, old: Option<Vec<&str>>) -> bool {
    let (Some(new), Some(old)) = (new, old) else { return false };
    new.len() == old.len()
        && new.iter().zip(&old).all(|(new, old)| new == old || new.starts_with(head(old, ENOUGH)))
}

fn mentions(message: &Message, text: &str) -> bool {
    match message {
        Message::User { content } => {
            content.iter().any(|part| matches!(part, Part::Text { text: words } if words.contains(text)))
        }
        Message::Assistant(_) | Message::Tool { .. } => false,
    }
}
