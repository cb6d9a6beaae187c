//! What a model can hold: how much there is, how much is used, and how a conversation is made
//! shorter without losing what matters.
//!
//! Shortening has two phases. First a [`plan`] says what is kept, what is paged out and what is
//! summed up; it is built and [checked](check) without touching anything. Then the record takes the
//! new conversation in place of the old one, all or nothing.
//!
//! | file | what |
//! |---|---|
//! | `tokens` | the size of a text or message, estimated |
//! | `room` | when a conversation is too long for a model |
//! | `blocks` | the pieces a conversation can be cut into |
//! | `plan` | what becomes of each message |
//! | `build` | the shorter conversation |
//! | `page` | what stands for a text that was paged out |
//! | `note` | the summary, as it stands in the conversation |
//! | `summary` | how a model is asked for one, and what is done without a model |
//! | `check` | what must not be lost |

pub(crate) mod blocks;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod note;
pub(crate) mod page;
pub(crate) mod plan;
pub mod room;
pub(crate) mod summary;
pub mod tokens;

#[cfg(test)]
mod property_tests;

/// The first `most` characters of a text.
pub(crate) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// The last `most` characters of a text.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let Some(skip) = text.chars().count().checked_sub(most) else { return text };
    text.char_indices().nth(skip).and_then(|(at, _)| text.get(at..)).unwrap_or_default()
}

/// A text on one line, cut to `most` characters.
pub(crate) fn line(text: &str, most: usize) -> String {
    let short: Vec<&str> = head(text, most * 2).split_whitespace().collect();
    let short = short.join(" ");
    let cut = head(&short, most);
    if cut.len() < short.len() || head(text, most * 2).len() < text.len() {
        format!("{cut}…")
    } else {
        short
    }
}
