//! The contract for what lasts beyond a session: short notes about the work and about the person.
//!
//! A list of changes is made whole or not at all. What a model may see of the notes at the start of
//! a session is [`MemoryBlocks`]; changes made later do not alter what it was shown.

use std::fmt;

use futures::future::BoxFuture;

use crate::threat::Threat;

/// Keeps notes from one session to the next.
pub trait Memory: Send + Sync {
    /// The notes of a target as a model may see them.
    fn notes(&self, target: Target) -> BoxFuture<'_, Result<Notes, MemoryError>>;

    /// Makes all of these changes, in order, or none.
    fn apply(&self, target: Target, changes: Vec<Change>) -> BoxFuture<'_, Result<Applied, Refused>>;

    /// The notes as they go into a system prompt. What cannot be read is left out: the reason is in
    /// its place.
    fn blocks(&self) -> BoxFuture<'_, MemoryBlocks>;
}

/// What the notes are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// The work: places, tools, conventions, lessons.
    Memory,
    /// The person: who they are and what they like.
    User,
}

impl Target {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Its word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }
}

/// One change. `old` is a part of the one note that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds a note.
    Add(String),
    /// Puts another note in the place of one.
    Replace {
        /// Part of the note.
        old: String,
        /// The whole new note.
        new: String,
    },
    /// Takes a note away.
    Remove {
        /// Part of the note.
        old: String,
    },
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// The note is new.
    Added,
    /// The note was there already, word for word.
    AlreadyThere,
    /// Another note stands in its place.
    Replaced,
    /// The note is gone.
    Removed,
}

/// How much room is taken, in characters of all notes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Taken.
    pub used: usize,
    /// There is no more than this.
    pub limit: usize,
}

impl Room {
    /// How full it is; more than 100 when somebody wrote past the limit.
    pub fn percent(self) -> usize {
        self.used.saturating_mul(100).checked_div(self.limit).unwrap_or(100)
    }
}

impl fmt::Display for Room {
    /// `67% — 1,474/2,200 chars`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}% — {}/{} chars", self.percent(), grouped(self.used), grouped(self.limit))
    }
}

/// A number with a comma between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The notes of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notes {
    /// Oldest first. A note that tries to command the model is replaced by a line that says so.
    pub entries: Vec<String>,
    /// How much room they take.
    pub room: Room,
}

/// What came of a list of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// What each change did, in their order.
    pub did: Vec<Did>,
    /// How many notes there are now.
    pub entries: usize,
    /// How much room they take now.
    pub room: Room,
}

/// Changes that were not made, none of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// Which change is to blame, counted from 0; none when it is all of them together.
    pub change: Option<usize>,
    /// Why.
    pub why: MemoryError,
}

impl From<MemoryError> for Refused {
    fn from(why: MemoryError) -> Self {
        Self { change: None, why }
    }
}

/// Why notes could not be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The configuration says no.
    #[error("`{}` notes are switched off in config.yaml", .0.word())]
    Off(Target),
    /// A note would be empty.
    #[error("a note needs some text")]
    Empty,
    /// A note holds the line that stands between notes.
    #[error("a note cannot have a line with nothing but `§`: that line stands between notes")]
    Separator,
    /// A note tries to command whoever reads it.
    #[error("this is not kept, because it {0}")]
    Threat(Threat),
    /// The notes would be too long.
    #[error("the notes would take {would} characters, and there is room for {}", room.limit)]
    OverLimit {
        /// How long they would be.
        would: usize,
        /// How much room is taken now.
        room: Room,
        /// The notes as they are.
        entries: Vec<String>,
    },
    /// Several notes are meant.
    #[error("`{text}` is in {} notes; give more of the one that is meant", previews.len())]
    Ambiguous {
        /// What was looked for.
        text: String,
        /// How those notes begin.
        previews: Vec<String>,
    },
    /// No note is meant.
    #[error("`{text}` is in none of the notes")]
    NoMatch {
        /// What was looked for.
        text: String,
        /// The notes as they are.
        entries: Vec<String>,
    },
    /// The file is not a list of notes any more, so that changing it would lose something.
    #[error("{file} was changed by hand and {why}; it is left alone, and a copy is in {backup}")]
    Drift {
        /// The file's name.
        file: String,
        /// What is odd about it.
        why: String,
        /// Name of the copy beside it.
        backup: String,
    },
    /// The state folder could not be read or written.
    #[error("{0}")]
    Store(String),
}

/// The notes as they go into a system prompt; nothing where there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryBlocks {
    /// About the work.
    pub memory: Option<String>,
    /// About the person.
    pub user: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_told_with_commas_between_thousands() {
        assert_eq!(Room { used: 1474, limit: 2200 }.to_string(), "67% — 1,474/2,200 chars");
        assert_eq!(Room { used: 0, limit: 999 }.to_string(), "0% — 0/999 chars");
        assert_eq!(Room { used: 5, limit: 0 }.to_string(), "100% — 5/0 chars");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(123_456), "123,456");
    }
}
