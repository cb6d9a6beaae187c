//! The next moment that a cron expression fits, also where the clock is put forward or back.
//!
//! Between two changes of the clock the offset from UTC stays the same, and the search is plain
//! arithmetic on what the clock on the wall shows. At a change this holds:
//!
//! - An expression for certain hours runs once per time it names. A time that is skipped is made up for
//!   when the clock jumps, several of them together by one run; a time that is shown twice counts the
//!   first time.
//! - An expression for every hour goes by the time that passes: skipped times are no gap in it, and in an
//!   hour that is shown twice it runs both times.

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan as _};

use super::CronExpr;

/// A day that comes at all comes within so many years: a 29 February on a certain day of the week.
const HORIZON_YEARS: i16 = 41;

const DAY: i64 = 86_400;

impl CronExpr {
    /// The first moment after `after` at which it is due in that zone.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let by_the_wall = !self.every_hour();
        let mut offset = seconds(zone.to_offset(after));
        // What the wall has shown up to here is not shown for the first time again.
        let mut shown = if by_the_wall { shown_before(after, zone) } else { i64::MIN };
        let mut at = after.as_second().checked_add(1)?;
        let changes = zone.following(after).map(|change| {
            let at = change.timestamp();
            (at.as_second(), seconds(zone.to_offset(at)))
        });
        for change in changes.map(Some).chain([None]) {
            let local = self.next_local((at + offset).max(shown));
            let (end, then) = match (local, change) {
                (Some(local), Some((end, _))) if local - offset < end => return moment(local - offset),
                (Some(local), None) => return moment(local - offset),
                (None, _) => return None,
                (Some(_), Some(change)) => change,
            };
            let skipped = (end + offset).max(shown)..end + then;
            if by_the_wall && local.is_some_and(|local| skipped.contains(&local)) {
                return moment(end);
            }
            if by_the_wall {
                shown = shown.max(end + offset);
            }
            (at, offset) = (end, then);
        }
        None
    }

    /// The first minute at or after a moment on the wall that fits; both in seconds since 1970 there.
    fn next_local(&self, from: i64) -> Option<i64> {
        let from = from.checked_add(59)?.div_euclid(60) * 60;
        let (mut date, of_day) = (date(from)?, from.rem_euclid(DAY));
        let mut minute = u32::try_from(of_day / 60).ok()?;
        let last = date.year().saturating_add(HORIZON_YEARS);
        while date.year() <= last {
            if !self.fits_month(date) {
                date = date.last_of_month().tomorrow().ok()?;
                minute = 0;
                continue;
            }
            if self.fits_date(date)
                && let Some(minute) = self.minute_from(minute)
            {
                return Some(start_of(date)? + i64::from(minute) * 60);
            }
            date = date.tomorrow().ok()?;
            minute = 0;
        }
        None
    }
}

/// Up to where the wall had shown its times before the last change; the beginning of time if there was
/// none.
fn shown_before(at: Timestamp, zone: &TimeZone) -> i64 {
    let Ok(just_after) = at.checked_add(1.nanosecond()) else { return i64::MIN };
    let Some(change) = zone.preceding(just_after).next() else { return i64::MIN };
    let Ok(before) = change.timestamp().checked_sub(1.nanosecond()) else { return i64::MIN };
    change.timestamp().as_second() + seconds(zone.to_offset(before))
}

fn seconds(offset: Offset) -> i64 {
    i64::from(offset.seconds())
}

fn moment(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok()
}

/// The day of a moment on the wall.
fn date(second: i64) -> Option<Date> {
    Some(Offset::UTC.to_datetime(moment(second)?).date())
}

/// When a day begins on the wall.
fn start_of(date: Date) -> Option<i64> {
    Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok().map(Timestamp::as_second)
}
