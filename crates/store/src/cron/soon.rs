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

/// When the first job is due, if that is known: `Some(None)` is never.
pub(super) fn known(home: &CronHome) -> Option<Option<Timestamp>> {
    let Some(stamp) = home.stamp() else { return Some(None) };
    let text = disk::read(&home.folder.join(NAME), MAX_BYTES).ok().flatten()?;
    let (when, of) = text.trim_end().split_once(' ')?;
    if of != format!("{stamp:?}") {
        return None;
    }
    match when {
        "never" => Some(None),
        second => Some(Some(Timestamp::from_second(second.parse().ok()?).ok()?)),
    }
}
