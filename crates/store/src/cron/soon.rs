//! When the first job is due, kept beside the jobs.
//!
//! A look every minute mostly finds that it is not time yet. To know that, one line is read instead of
//! all jobs. The line names the state of `jobs.json` that it is true for; whatever else has changed the
//! file makes it void.

use jiff::Timestamp;

use super::CronHome;
use crate::disk::{self, Mode};

/// The file beside the jobs.
const NAME: &str = ".soon";
/// The line is short; whatever is longer is not ours.
const MAX_BYTES: u64 = 1024;

/// Notes when the first job is due. It can be found out again, so that a failure costs time alone.
pub(super) fn keep(home: &CronHome, earliest: Option<Timestamp>) {
    let Some(stamp) = home.stamp() else { return };
    let when = earliest.map_or_else(|| "never".to_owned(), |at| at.as_second().to_string());
    let _ = disk::write(&home.folder.join(NAME), &format!("{when} {stamp:?}\n"), Mode::Private);
}

/// When the first job is due, if that is known.
pub(super) fn known(home: &CronHome) -> Option<Soon> {
    let Some(stamp) = home.stamp() else { return Some(Soon::Never) };
    let text = disk::read(&home.folder.join(NAME), MAX_BYTES).ok().flatten()?;
    let (when, of) = text.trim_end().split_once(' ')?;
    if of != format!("{stamp:?}") {
        return None;
    }
    match when {
        "never" => Some(Soon::Never),
        second => Some(Soon::At(Timestamp::from_second(second.parse().ok()?).ok()?)),
    }
}

/// When the first job is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Soon {
    /// No job waits.
    Never,
    /// Then.
    At(Timestamp),
}

impl Soon {
    pub(super) fn is_later_than(self, now: Timestamp) -> bool {
        self.time().is_none_or(|at| at > now)
    }

    pub(super) fn time(self) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::At(at) => Some(at),
        }
    }
}
