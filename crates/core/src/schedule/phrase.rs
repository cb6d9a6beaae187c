//! What people write for a time, read.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{CronExpr, Schedule, ScheduleError, moment, zone};

/// A single moment may be over by so much: it was now when it was said.
const JUST_NOW: SignedDuration = SignedDuration::from_secs(120);

/// The longest delay or interval, in minutes: ten years.
const LONGEST: u64 = 10 * 366 * 24 * 60;

/// A schedule as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What it means.
    pub schedule: Schedule,
    /// The time zone that it names, if it does.
    pub zone: Option<String>,
    /// How to show it.
    pub display: String,
}

/// Reads a schedule. `TZ=Europe/Berlin ` in front names a zone; else the clock of `here` is meant.
pub fn parse(text: &str, now: Timestamp, here: &TimeZone) -> Result<Written, ScheduleError> {
    let text = text.trim();
    let (named, rest) = match text.strip_prefix("CRON_TZ=").or_else(|| text.strip_prefix("TZ=")) {
        Some(rest) => {
            let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (Some((name.to_owned(), zone(name)?)), rest.trim())
        }
        None => (None, text),
    };
    let in_zone = named.as_ref().map_or(here, |(_, zone)| zone);
    let (schedule, display) = meant(rest, now, in_zone)?;
    Ok(Written { schedule, zone: named.map(|(name, _)| name), display })
}

fn meant(text: &str, now: Timestamp, here: &TimeZone) -> Result<(Schedule, String), ScheduleError> {
    let lower = text.to_ascii_lowercase();
    let every = lower.strip_prefix("every ").or_else(|| lower.strip_prefix("@every "));
    if let Some(every) = every {
        let minutes = span(every)?.ok_or_else(|| ScheduleError::Unreadable(text.to_owned()))?;
        return Ok((Schedule::Every(minutes), format!("every {}", short(minutes))));
    }
    let after = lower.strip_prefix("in ").unwrap_or(&lower);
    if let Some(minutes) = span(after)? {
        let seconds = i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60);
        let at = now.checked_add(SignedDuration::from_secs(seconds));
        let at = at.map_err(|_| ScheduleError::Unreadable(text.to_owned()))?;
        return Ok((Schedule::Once(at), format!("once in {}", short(minutes))));
    }
    if looks_like_a_date(text) {
        let at = moment(text, here).ok_or_else(|| ScheduleError::Unreadable(text.to_owned()))?;
        let shown = at.to_zoned(here.clone()).strftime("%Y-%m-%d %H:%M").to_string();
        if at.duration_until(now) > JUST_NOW {
            return Err(ScheduleError::Past(shown));
        }
        return Ok((Schedule::Once(at), format!("once at {shown}")));
    }
    if text.starts_with('@') || text.split_whitespace().count() >= 2 {
        let expression = CronExpr::parse(text)?;
        return Ok((Schedule::Cron(Box::new(expression)), text.to_owned()));
    }
    Err(ScheduleError::Unreadable(text.to_owned()))
}

/// `2027-01-31` and whatever follows.
fn looks_like_a_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|part| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    digits(parts.next(), 4) && digits(parts.next(), 2) && parts.next().is_some()
}

/// Minutes of `30m`, `2h`, `1d`, `1w`, `1h30m`, `90 minutes`; nothing when it is no span of time at all.
pub fn span(text: &str) -> Result<Option<u64>, ScheduleError> {
    let wrong = |why| ScheduleError::Length { text: text.to_owned(), why };
    let (mut rest, mut minutes) = (text.trim(), 0_u64);
    if !rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Ok(None);
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (count, after) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let after = after.trim_start();
        let letters = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, later) = after.split_at_checked(letters).unwrap_or((after, ""));
        let Some(unit) = unit_minutes(unit) else { return Ok(None) };
        if count.is_empty() {
            return Ok(None);
        }
        let count: u64 = count.parse().map_err(|_| wrong("is too long"))?;
        minutes = count.checked_mul(unit).and_then(|more| minutes.checked_add(more)).unwrap_or(u64::MAX);
        rest = later.trim_start();
    }
    match minutes {
        0 => Err(wrong("is shorter than a minute")),
        _ if minutes > LONGEST => Err(wrong("is longer than ten years")),
        _ => Ok(Some(minutes)),
    }
}

fn unit_minutes(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "m" | "min" | "mins" | "minute" | "minutes" => 1,
        "h" | "hr" | "hrs" | "hour" | "hours" => 60,
        "d" | "day" | "days" => 24 * 60,
        "w" | "week" | "weeks" => 7 * 24 * 60,
        _ => return None,
    })
}

/// `90m`, `2h`, `1d`: in the largest unit that says it exactly.
fn short(minutes: u64) -> String {
    let units = [(24 * 60, 'd'), (60, 'h'), (1, 'm')];
    let exact = units.into_iter().find(|(size, _)| minutes.is_multiple_of(*size));
    exact.map_or_else(|| format!("{minutes}m"), |(size, unit)| format!("{}{unit}", minutes / size))
}
