//! What becomes of times that went by while nobody looked: the machine slept, or no scheduler ran.
//!
//! Pure: from the time that was due and the time it is now follows what runs, what is missed, and when
//! it is due again. Nothing is dropped: each time is run, or told as missed.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::Schedule;

/// From here on a run is late.
pub const LATE: SignedDuration = SignedDuration::from_secs(120);

/// The longest grace that follows from a schedule.
const LONGEST_GRACE: SignedDuration = SignedDuration::from_hours(2);

/// Most runs that are made up for at once.
pub const MOST_CAUGHT_UP: usize = 24;

/// Times that are counted one by one; who missed more has missed at least so many.
const MOST_COUNTED: u64 = 10_000;

/// Of a longer row only these last times are looked at one by one.
const WHOLE_ROW: SignedDuration = SignedDuration::from_hours(48);

/// The rule for times that went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Misfire {
    /// One run makes up for them while the last of them is not older than half the time between two, at
    /// least two minutes and at most two hours. Something that comes once is always made up for.
    #[default]
    Grace,
    /// What is later than two minutes does not run.
    Skip,
    /// One run makes up for them, however late.
    RunOnce,
    /// Each of them is made up for, oldest first, at most [`MOST_CAUGHT_UP`].
    CatchUp,
}

impl Misfire {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Grace, Self::Skip, Self::RunOnce, Self::CatchUp];

    /// Its word in files and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Grace => "grace",
            Self::Skip => "skip",
            Self::RunOnce => "run_once",
            Self::CatchUp => "catch_up",
        }
    }
}

impl fmt::Display for Misfire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Misfire {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text.trim().replace('-', "_").to_ascii_lowercase();
        let words = Self::ALL.map(Self::word).join(", ");
        let found = Self::ALL.into_iter().find(|rule| rule.word() == word);
        found.ok_or_else(|| format!("`{text}` is no rule for missed times; there are {words}"))
    }
}

/// What follows from a time that has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Due {
    /// The times that are run now, oldest first.
    pub run: Vec<Timestamp>,
    /// Those that are not.
    pub missed: Option<Missed>,
    /// When it is due again.
    pub next: Option<Timestamp>,
}

/// Times that went by without a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    /// The first of them.
    pub first: Timestamp,
    /// The last of them.
    pub last: Timestamp,
    /// How many.
    pub count: u64,
}

/// Decides about a job that was due at `at`, which is not later than `now`.
pub fn due(schedule: &Schedule, zone: &TimeZone, at: Timestamp, now: Timestamp, rule: Misfire) -> Due {
    if at > now {
        return Due { next: Some(at), ..Due::default() };
    }
    let (times, dropped) = times(schedule, zone, at, now);
    let last = times.last().copied().unwrap_or(at);
    let next = if schedule.recurs() { schedule.next(last, zone) } else { None };
    let runs = match rule {
        Misfire::CatchUp => times.len().min(MOST_CAUGHT_UP),
        _ => usize::from(last.duration_until(now) <= grace(rule, last, next)),
    };
    let (gone, run) = times.split_at_checked(times.len() - runs).unwrap_or((&[], &times));
    let missed = gone.iter().fold(dropped, |missed, time| Some(one_more(missed, *time)));
    Due { run: run.to_vec(), missed, next }
}

fn one_more(missed: Option<Missed>, time: Timestamp) -> Missed {
    let (first, count) = missed.map_or((time, 0), |missed| (missed.first, missed.count));
    Missed { first, last: time, count: count + 1 }
}

/// How late a run may be.
fn grace(rule: Misfire, last: Timestamp, next: Option<Timestamp>) -> SignedDuration {
    match (rule, next) {
        (Misfire::Skip, _) => LATE,
        (Misfire::RunOnce | Misfire::CatchUp, _) | (Misfire::Grace, None) => SignedDuration::MAX,
        (Misfire::Grace, Some(next)) => (last.duration_until(next) / 2).clamp(LATE, LONGEST_GRACE),
    }
}

/// The newest times from `at` to `now`, oldest first, and what there was before them.
fn times(
    schedule: &Schedule,
    zone: &TimeZone,
    at: Timestamp,
    now: Timestamp,
) -> (Vec<Timestamp>, Option<Missed>) {
    let (mut newest, mut dropped) = (VecDeque::from([at]), None);
    let (mut time, mut counted) = (at, 0_u64);
    while let Some(next) = schedule.next(time, zone).filter(|next| schedule.recurs() && *next <= now) {
        counted += 1;
        time = if counted == MOST_COUNTED { nearer(schedule, zone, next, now) } else { next };
        newest.push_back(time);
        if newest.len() > MOST_CAUGHT_UP {
            dropped = newest.pop_front().map(|gone| one_more(dropped, gone));
        }
    }
    (newest.into(), dropped)
}

/// Leaves out the middle of a very long row of times, so that its end is reached soon.
fn nearer(schedule: &Schedule, zone: &TimeZone, time: Timestamp, now: Timestamp) -> Timestamp {
    let Ok(near) = now.checked_sub(WHOLE_ROW) else { return time };
    let jumped = match schedule {
        Schedule::Every(minutes) => {
            let period = i64::try_from(*minutes).unwrap_or(i64::MAX).saturating_mul(60).max(60);
            let whole = time.duration_until(near).as_secs().max(0) / period * period;
            time.checked_add(SignedDuration::from_secs(whole)).ok()
        }
        other => other.next(near, zone),
    };
    jumped.filter(|jumped| *jumped > time && *jumped <= now).unwrap_or(time)
}
