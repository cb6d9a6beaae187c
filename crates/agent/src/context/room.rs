//! When a conversation is too long for a model, and how long it may be afterwards.
//!
//! Everything is a share of the window, so that a model with four thousand tokens is served like one
//! with a million.

use serde::{Deserialize, Serialize};

/// How a context is kept in bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextSettings {
    /// Size of the context, when it is known better than the model knows it.
    pub window: Option<u64>,
    /// Percent of the room for input at which a conversation is shortened.
    pub shorten_at: u64,
    /// Percent of that which may be left afterwards.
    pub shorten_to: u64,
    /// How a text that was paged out is read again; `{id}` stands for its id.
    pub reread: String,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            window: None,
            shorten_at: 75,
            shorten_to: 50,
            reread: "The whole text is kept under the id {id}.".to_owned(),
        }
    }
}

/// What is taken for the window of a model that nobody knows.
const UNKNOWN: u64 = 128_000;

/// The room there is for one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The whole window.
    pub window: u64,
    /// A request larger than this is shortened first.
    pub limit: u64,
    /// A shortened request is to be no larger than this.
    pub target: u64,
}

impl Room {
    /// The room of a model.
    pub fn of(settings: &ContextSettings, model: Option<u64>, max_tokens: Option<u64>) -> Self {
        let window = settings.window.or(model).unwrap_or(UNKNOWN).max(1);
        // An answer needs room too, but a wish for a very long one does not take everything.
        let answer = max_tokens.unwrap_or(window / 8).clamp(1, (window / 3).max(1));
        let limit = percent(window.saturating_sub(answer), settings.shorten_at.clamp(10, 100));
        let target = percent(limit, settings.shorten_to.clamp(10, 95));
        Self { window, limit, target }
    }

    /// What the conversation itself may take after shortening, beside what comes before it. A prefix
    /// that fills the context leaves the conversation a quarter all the same: the model then says
    /// itself whether it fits.
    pub fn for_messages(self, prefix: u64) -> u64 {
        self.target.saturating_sub(prefix).max(self.target / 4)
    }
}

fn percent(of: u64, percent: u64) -> u64 {
    of.saturating_mul(percent) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(window: u64, max_tokens: Option<u64>) -> Room {
        Room::of(&ContextSettings::default(), Some(window), max_tokens)
    }

    #[test]
    fn small_and_large_windows_are_treated_alike() {
        assert_eq!(room(4_096, None), Room { window: 4_096, limit: 2_688, target: 1_344 });
        assert_eq!(room(200_000, None), Room { window: 200_000, limit: 131_250, target: 65_625 });
    }

    #[test]
    fn a_wish_for_a_long_answer_leaves_room_to_ask() {
        let room = room(8_000, Some(65_536));

        assert!(room.limit > 3_000 && room.target > 1_500, "{room:?}");
    }

    #[test]
    fn a_large_prefix_leaves_some_room() {
        assert_eq!(room(4_096, None).for_messages(10_000), 336);
        assert_eq!(room(4_096, None).for_messages(344), 1_000);
    }

    #[test]
    fn no_setting_makes_it_overflow() {
        let settings = ContextSettings { shorten_at: u64::MAX, shorten_to: 0, ..ContextSettings::default() };

        let room = Room::of(&settings, Some(u64::MAX), Some(u64::MAX));
        assert!(room.target <= room.limit && room.limit <= room.window);
    }
}
