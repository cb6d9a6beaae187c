//! When a provider wants to be asked again, in all the ways they say it.

use std::time::Duration;

/// Longer waits are not believed.
const MOST: Duration = Duration::from_hours(24);

/// Reads the headers. `now` is in seconds since 1970.
pub(crate) fn in_headers<'a>(header: impl Fn(&str) -> Option<&'a str>, now: u64) -> Option<Duration> {
    let get = |name: &str| header(name).map(str::trim).filter(|value| !value.is_empty());
    let ms = || get("retry-after-ms")?.parse::<f64>().ok().and_then(|ms| seconds(ms / 1000.0));
    let after = || {
        let value = get("retry-after")?;
        match value.parse::<f64>() {
            Ok(value) => seconds(value),
            Err(_) => Some(Duration::from_secs(http_date(value)?.saturating_sub(now))),
        }
    };
    // A reset time counts only where nothing is left: a provider may name it with every answer.
    let reset = || {
        const KINDS: [&str; 4] = ["-requests", "-tokens", "", "-input-tokens"];
        let waits = KINDS.iter().filter_map(|kind| {
            let names = ["x-ratelimit", "anthropic-ratelimit"];
            names.iter().find_map(|name| {
                // Anthropic writes `anthropic-ratelimit-requests-reset`, others `x-ratelimit-reset-requests`.
                let (left, reset) = if *name == "x-ratelimit" {
                    (format!("{name}-remaining{kind}"), format!("{name}-reset{kind}"))
                } else {
                    (format!("{name}{kind}-remaining"), format!("{name}{kind}-reset"))
                };
                let used_up = get(&left).is_none_or(|left| left.parse::<f64>().is_ok_and(|left| left < 1.0));
                get(&reset).filter(|_| used_up).and_then(|value| moment(value, now))
            })
        });
        waits.max()
    };
    ms().or_else(after).or_else(reset).map(|wait| wait.min(MOST))
}

/// Reads `try again in 1m2.5s` and its like in a message.
pub(crate) fn in_text(text: &str) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    let words = ["try again in ", "retry in ", "retry after ", "retrydelay\": \"", "available in "];
    let rest = words.iter().find_map(|word| lower.split_once(word).map(|(_, rest)| rest))?;
    let token: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let unit = rest.get(token.len()..).unwrap_or_default().trim_start();
    let token = token.trim_end_matches('.');
    let wait = span(token).or_else(|| {
        let number = token.parse::<f64>().ok()?;
        let scale = if unit.starts_with("ms") || unit.starts_with("milli") {
            0.001
        } else if unit.starts_with('m') {
            60.0
        } else if unit.starts_with('h') {
            3600.0
        } else {
            1.0
        };
        seconds(number * scale)
    });
    wait.map(|wait| wait.min(MOST))
}

fn seconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value.max(0.0)).ok()
}

/// `1m2.5s`, `250ms`, seconds, a time since 1970 in seconds or milliseconds, or a date.
fn moment(value: &str, now: u64) -> Option<Duration> {
    if let Ok(number) = value.parse::<f64>() {
        #[expect(clippy::cast_precision_loss, reason = "times since 1970 fit")]
        let now = now as f64;
        return seconds(match number {
            ..1e9 => number,
            ..1e12 => number - now,
            _ => number / 1000.0 - now,
        });
    }
    span(value).or_else(|| {
        Some(Duration::from_secs(rfc3339(value).or_else(|| http_date(value))?.saturating_sub(now)))
    })
}

/// `1h2m3.5s`, `250ms`.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let (scale, length) = match unit.as_bytes() {
            [b'm', b's', ..] => (0.001, 2),
            [b'd', ..] => (86_400.0, 1),
            [b'h', ..] => (3600.0, 1),
            [b'm', ..] => (60.0, 1),
            [b's', ..] => (1.0, 1),
            _ => return None,
        };
        total += number * scale;
        rest = unit.get(length..)?;
    }
    seconds(total)
}

/// `Wed, 21 Oct 2015 07:28:00 GMT` as seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let mut words = text.split([' ', '-', ',']).filter(|word| !word.is_empty()).skip(1);
    let day: u64 = words.next()?.parse().ok()?;
    let month = MONTHS.find(&words.next()?.get(..3)?.to_ascii_lowercase())? / 3 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let year = if year < 100 { year + if year < 70 { 2000 } else { 1900 } } else { year };
    let mut clock = words.next()?.split(':').map(str::parse::<u64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    stamp(year, month as u64, day, hour, minute, second)
}

/// `2026-01-02T03:04:05Z` as seconds since 1970.
fn rfc3339(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<u64>);
    let clock = clock.get(..8)?;
    let mut clock = clock.split(':').map(str::parse::<u64>);
    let mut next = || date.next()?.ok();
    let (year, month, day) = (next()?, next()?, next()?);
    let mut next = || clock.next()?.ok();
    stamp(year, month, day, next()?, next()?, next()?)
}

fn stamp(year: u64, month: u64, day: u64, hour: u64, minute: u64, second: u64) -> Option<u64> {
    let fits = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !fits || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    // Days since 1970 in a calendar whose year begins in March, so that the leap day is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + (day - 1);
    let days = days.checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{http_date, in_headers, in_text};

    const NOW: u64 = 1_445_412_420;

    fn read(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        in_headers(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), NOW)
    }

    #[test]
    fn every_way_to_say_when_is_understood() {
        let said: [(&[(&str, &str)], u64); 9] = [
            (&[("retry-after", "7")], 7_000),
            (&[("retry-after", "0.5")], 500),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], 250),
            (&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], 60_000),
            (&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1m2.5s")], 62_500),
            (&[("x-ratelimit-reset-tokens", "6ms")], 6),
            (&[("x-ratelimit-reset", "1445412430000")], 10_000),
            (&[("x-ratelimit-reset", "1445412425")], 5_000),
            (
                &[
                    ("anthropic-ratelimit-tokens-remaining", "0"),
                    ("anthropic-ratelimit-tokens-reset", "2015-10-21T07:27:30Z"),
                ],
                30_000,
            ),
        ];

        for (headers, ms) in said {
            assert_eq!(read(headers), Some(Duration::from_millis(ms)), "{headers:?}");
        }
    }

    #[test]
    fn a_reset_with_something_left_is_no_wait() {
        assert_eq!(
            read(&[("x-ratelimit-remaining-tokens", "900"), ("x-ratelimit-reset-tokens", "6s")]),
            None
        );
        assert_eq!(read(&[("retry-after", "soon")]), None);
        assert_eq!(read(&[("retry-after", "-3")]), Some(Duration::ZERO));
    }

    #[test]
    fn messages_are_understood() {
        assert_eq!(in_text("Please try again in 20s."), Some(Duration::from_secs(20)));
        assert_eq!(in_text("try again in 6m0s"), Some(Duration::from_mins(6)));
        assert_eq!(in_text("Please retry in 12.5 seconds"), Some(Duration::from_millis(12_500)));
        assert_eq!(in_text("try again in 5 minutes"), Some(Duration::from_mins(5)));
        assert_eq!(in_text("try again in a while"), None);
    }

    #[test]
    fn dates_are_counted_right() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:01 GMT"), Some(1));
        assert_eq!(http_date("Tue, 29 Feb 2028 12:00:00 GMT"), Some(1_835_438_400));
        assert_eq!(http_date("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(http_date("Xyz, 40 Foo 2015 07:28:00 GMT"), None);
    }
}
