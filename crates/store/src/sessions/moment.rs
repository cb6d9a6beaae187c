//! A moment in time as the store keeps it, and its forms for people and programs.
//!
//! Stored as microseconds since 1970, written for programs as seconds (as the original does) and
//! for people in UTC, so that the same store reads the same everywhere.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Serialize, Serializer};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// A moment, to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(i64);

impl Moment {
    /// From microseconds since 1970.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From seconds since 1970; what is not a number is 1970 itself.
    pub fn from_seconds(seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a cast from float saturates, which is wanted")]
        Self((seconds * 1e6).round() as i64)
    }

    /// Microseconds since 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "exact for any date a session can have")]
        let micros = self.0 as f64;
        micros / 1e6
    }

    /// So much earlier.
    pub fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(time.as_micros()).unwrap_or(i64::MAX)))
    }

    /// `2026-11-15` or `2026-11-15 22:10:35` (also with `T` and `Z`), in UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('Z');
        let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
        let mut date = date.splitn(3, '-').map(str::parse::<i64>);
        let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
        let mut time = time.splitn(3, ':').map(str::parse::<i64>);
        let (hour, minute) = (time.next()?.ok()?, time.next()?.ok()?);
        let second = time.next().unwrap_or(Ok(0)).ok()?;
        let sound = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..61).contains(&second);
        let moment =
            Self((days(year, month, day) * DAY + hour * 3600 + minute * 60 + second).checked_mul(SECOND)?);
        // The 31st of a short month comes out as another day.
        let (same_year, same_month, same_day) = civil(moment.0.div_euclid(SECOND * DAY));
        (sound && (same_year, same_month, same_day) == (year, month, day)).then_some(moment)
    }

    /// `20261115_221035`, the beginning of a session id.
    pub(crate) fn stamp(self) -> String {
        let text = self.to_string();
        text.chars().filter(|c| !matches!(c, '-' | ':')).map(|c| if c == ' ' { '_' } else { c }).collect()
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(SECOND);
        let (year, month, day) = civil(seconds.div_euclid(DAY));
        let of_day = seconds.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.seconds())
    }
}

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_written_and_read_in_utc() {
        let moment = Moment::from_seconds(1_794_780_635.25);

        assert_eq!(moment.to_string(), "2026-11-15 22:10:35");
        assert_eq!(moment.stamp(), "20261115_221035");
        assert_eq!(Moment::parse("2026-11-15T22:10:35Z"), Some(Moment::from_seconds(1_794_780_635.0)));
        assert_eq!(Moment::parse("2026-11-15").map(|m| m.to_string()), Some("2026-11-15 00:00:00".into()));
        assert_eq!(serde_json::to_string(&moment).unwrap(), "1794780635.25");
    }

    #[test]
    fn what_is_not_a_date_is_not_read() {
        for text in ["", "x", "2026", "2026-13-01", "2026-02-30", "2026-01-01 25:00", "99999999-1-1"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_day_is_read_back_as_written(day in 0_i64..2_900_000) {
            let moment = Moment::from_micros(day * DAY * SECOND);
            prop_assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
        }
    }
}
