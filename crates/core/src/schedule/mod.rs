//! When something is to happen: cron expressions, intervals, delays and single moments.
//!
//! Pure: the moment it is now and the time zone are handed in, and so is what somebody wrote. The
//! rules of time zones come with the program, so that the same text means the same everywhere.
//!
//! | file | what |
//! |---|---|
//! | `cron.rs` | the five fields of a cron expression |
//! | `next.rs` | the next moment they fit, across changes of the clock |
//! | `phrase.rs` | what people write: `every 30m`, `2h`, `@daily`, a date |
//! | `misfire.rs` | what becomes of times that went by while nobody looked |

mod cron;
mod misfire;
mod next;
mod phrase;

#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

pub use cron::CronExpr;
pub use misfire::{Due, LATE, MOST_CAUGHT_UP, Misfire, Missed, due};
pub use phrase::{Written, parse, span};

/// When something is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At one moment.
    Once(Timestamp),
    /// Again after so many minutes.
    Every(u64),
    /// Whenever the clock on the wall shows something.
    Cron(Box<CronExpr>),
}

/// Why a text is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Nothing that people write for a time.
    #[error(
        "`{0}` is no schedule; write `30m` or `2h` (once), `every 2h`, `0 9 * * mon-fri`, `@daily`, or a \
         time such as `2027-01-31T09:00`"
    )]
    Unreadable(String),
    /// A cron expression with something wrong in one field.
    #[error("the {field} field `{text}` {why}")]
    Field {
        /// Which field.
        field: &'static str,
        /// What stands there.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A cron expression that has more or fewer than five fields.
    #[error(
        "`{text}` has {count} fields, and a cron expression has five: minute, hour, day of the month, month, \
         day of the week"
    )]
    Fields {
        /// What was written.
        text: String,
        /// How many fields it has.
        count: usize,
    },
    /// No day is like that.
    #[error("`{0}` never comes: no month has such a day")]
    Never(String),
    /// The moment is over.
    #[error("{0} is over")]
    Past(String),
    /// Too short or too long.
    #[error("`{text}` {why}")]
    Length {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such time zone.
    #[error("`{name}` is no time zone{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    Zone {
        /// What was written.
        name: String,
        /// One that is spelt alike.
        near: Option<String>,
    },
}

impl Schedule {
    /// The first time after `after`; nothing when there is none any more.
    ///
    /// Intervals count from `after`.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Once(at) => (*at > after).then_some(*at),
            Self::Every(minutes) => {
                let seconds = i64::try_from(*minutes).ok()?.checked_mul(60)?;
                after.checked_add(SignedDuration::from_secs(seconds.max(60))).ok()
            }
            Self::Cron(expression) => expression.next(after, zone),
        }
    }

    /// Whether it comes more than once.
    pub fn recurs(&self) -> bool {
        !matches!(self, Self::Once(_))
    }
}

/// A time zone by its IANA name (`Europe/Berlin`, `UTC`).
pub fn zone(name: &str) -> Result<TimeZone, ScheduleError> {
    TimeZone::get(name.trim()).map_err(|_| {
        let names: Vec<String> = jiff::tz::db().available().map(|known| known.to_string()).collect();
        let near = crate::suggest::suggest(name, names.iter().map(String::as_str), 1);
        ScheduleError::Zone { name: name.to_owned(), near: near.first().map(|near| (*near).to_owned()) }
    })
}

/// A moment as it is written down: with the offset that holds in that zone.
pub fn written(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A moment that was written down, with an offset or, without one, as the clock in that zone shows it.
pub fn moment(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let local: jiff::civil::DateTime = text.parse().ok()?;
        zone.to_ambiguous_timestamp(local).compatible().ok()
    })
}
