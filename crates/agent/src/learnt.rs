//! What turns learn about models and later turns profit from: how many tokens a model really counts,
//! and which models are better left alone for a while.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Notes on models, by `provider/model`. Sessions may share one.
#[derive(Debug, Default)]
pub struct Learnt {
    notes: Mutex<BTreeMap<String, Note>>,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    /// Tokens the model counts for one that we estimate.
    ratio: f64,
    /// When it may be asked first again, on the host's clock.
    rests_until: Duration,
}

impl Default for Note {
    fn default() -> Self {
        Self { ratio: 1.0, rests_until: Duration::ZERO }
    }
}

/// Weight of the newest report.
const WEIGHT: f64 = 0.4;
/// Reports on requests smaller than this say more about the frame than about the text.
const SMALLEST: u64 = 200;
/// No model counts more differently than this.
const RANGE: (f64, f64) = (0.3, 4.0);

impl Learnt {
    /// A model has reported how many tokens a request took that we thought was `estimated` long.
    #[expect(clippy::cast_precision_loss, reason = "a ratio need not be exact")]
    pub fn counted(&self, model: &str, estimated: u64, reported: u64) {
        if estimated < SMALLEST || reported < SMALLEST {
            return;
        }
        let seen = (reported as f64 / estimated as f64).clamp(RANGE.0, RANGE.1);
        let mut notes = self.notes();
        match notes.get_mut(model) {
            Some(note) => note.ratio += WEIGHT * (seen - note.ratio),
            None => drop(notes.insert(model.to_owned(), Note { ratio: seen, ..Note::default() })),
        }
    }

    /// How many tokens this model counts for what we estimate.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate: not negative, and saturating at the ends is right"
    )]
    pub fn corrected(&self, model: &str, estimated: u64) -> u64 {
        let ratio = self.notes().get(model).map_or(1.0, |note| note.ratio);
        (estimated as f64 * ratio).ceil() as u64
    }

    /// How many tokens of ours are this many of the model's.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate: not negative, and saturating at the ends is right"
    )]
    pub fn estimated(&self, model: &str, counted: u64) -> u64 {
        let ratio = self.notes().get(model).map_or(1.0, |note| note.ratio);
        (counted as f64 / ratio).floor() as u64
    }

    /// A model is not to be asked first until then.
    pub fn rest(&self, model: &str, until: Duration) {
        let mut notes = self.notes();
        let note = notes.entry(model.to_owned()).or_default();
        note.rests_until = note.rests_until.max(until);
    }

    /// Whether a model is to be left alone now.
    pub fn rests(&self, model: &str, now: Duration) -> bool {
        self.notes().get(model).is_some_and(|note| note.rests_until > now)
    }

    fn notes(&self) -> MutexGuard<'_, BTreeMap<String, Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_follow_what_is_reported() {
        let learnt = Learnt::default();
        assert_eq!(learnt.corrected("m", 1_000), 1_000);
        learnt.counted("m", 1_000, 1_500);
        assert_eq!(learnt.corrected("m", 1_000), 1_500);
        for _ in 0..20 {
            learnt.counted("m", 1_000, 2_000);
        }

        assert!(learnt.corrected("m", 1_000).abs_diff(2_000) < 10);
        assert_eq!(learnt.corrected("other", 1_000), 1_000);
    }

    #[test]
    fn a_mad_report_is_not_believed() {
        let learnt = Learnt::default();
        learnt.counted("m", 1_000, 1_000_000);
        assert_eq!(learnt.corrected("m", 100), 400);
        learnt.counted("m", 10, 100);
        learnt.counted("m", 1_000, 0);

        assert_eq!(learnt.corrected("m", 100), 400);
    }

    #[test]
    fn a_model_rests_until_its_time_has_come() {
        let learnt = Learnt::default();
        learnt.rest("m", Duration::from_mins(1));
        learnt.rest("m", Duration::from_secs(30));

        assert!(learnt.rests("m", Duration::from_secs(59)));
        assert!(!learnt.rests("m", Duration::from_mins(1)));
        assert!(!learnt.rests("n", Duration::ZERO));
    }
}
