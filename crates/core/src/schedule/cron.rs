//! The five fields of a cron expression: minute, hour, day of the month, month, day of the week.
//!
//! Each is a list of numbers, names, ranges and steps. Where both kinds of days are given, a day of
//! either kind will do, as everywhere else; a field that begins with `*` gives none.

use jiff::civil::Date;

use super::ScheduleError;

/// A cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronExpr {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day that fits one of the two kinds is enough.
    either_day: bool,
    /// The same in numbers, for readers that know no names.
    numeric: String,
}

/// What may stand in a field.
struct Field {
    name: &'static str,
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", low: 0, high: 59, names: &[] };
const HOUR: Field = Field { name: "hour", low: 0, high: 23, names: &[] };
const DAY: Field = Field { name: "day of the month", low: 1, high: 31, names: &[] };
const MONTH: Field = Field {
    name: "month",
    low: 1,
    high: 12,
    names: &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ],
};
/// Sunday is 0, and also 7.
const WEEKDAY: Field = Field {
    name: "day of the week",
    low: 0,
    high: 7,
    names: &["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"],
};

/// Every hour of a day.
const ALL_HOURS: u64 = (1 << 24) - 1;

/// The longest a month can be, January first.
const LONGEST: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Letters of a short name.
const SHORT: usize = 3;

impl CronExpr {
    /// Reads five fields, or one of `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`
    /// and `@annually`.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        let fields: Vec<&str> = shorthand(text).unwrap_or(text).split_whitespace().collect();
        let &[minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(if text.starts_with('@') {
                ScheduleError::Unreadable(text.to_owned())
            } else {
                ScheduleError::Fields { text: text.to_owned(), count: fields.len() }
            });
        };
        let [minutes, hours, days, months, mut weekdays] = [
            MINUTE.read(minute)?,
            HOUR.read(hour)?,
            DAY.read(day)?,
            MONTH.read(month)?,
            WEEKDAY.read(weekday)?,
        ];
        weekdays.set = (weekdays.set | weekdays.set >> 7) & 0x7f;
        let numeric =
            [&minutes, &hours, &days, &months, &weekdays].map(|read| read.numeric.as_str()).join(" ");
        let expression = Self {
            minutes: minutes.set,
            hours: hours.set,
            days: days.set,
            months: months.set,
            weekdays: weekdays.set,
            either_day: !is_star(day) && !is_star(weekday),
            numeric,
        };
        if expression.comes() { Ok(expression) } else { Err(ScheduleError::Never(text.to_owned())) }
    }

    /// The five fields in numbers.
    pub fn numeric(&self) -> &str {
        &self.numeric
    }

    /// Whether it runs in every hour, so that it goes by how much time has passed and not by what the
    /// clock on the wall shows.
    pub(super) fn every_hour(&self) -> bool {
        self.hours == ALL_HOURS
    }

    pub(super) fn fits_month(&self, date: Date) -> bool {
        has(self.months, date.month().unsigned_abs().into())
    }

    pub(super) fn fits_date(&self, date: Date) -> bool {
        let day = has(self.days, date.day().unsigned_abs().into());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset().unsigned_abs().into());
        self.fits_month(date) && if self.either_day { day || weekday } else { day && weekday }
    }

    /// The first minute of a day, from this one on, that fits.
    pub(super) fn minute_from(&self, minute: u32) -> Option<u32> {
        (minute / 60..24).filter(|hour| has(self.hours, *hour)).find_map(|hour| {
            let first = minute.saturating_sub(hour * 60);
            (first..60).find(|minute| has(self.minutes, *minute)).map(|minute| hour * 60 + minute)
        })
    }

    /// Whether some year has such a day.
    fn comes(&self) -> bool {
        let fits = |month: u32, longest: u32| {
            has(self.months, month) && (1..=longest).any(|day| has(self.days, day))
        };
        self.either_day || (1..).zip(LONGEST).any(|(month, longest)| fits(month, longest))
    }
}

/// What a shorthand stands for.
fn shorthand(text: &str) -> Option<&'static str> {
    let word = text.strip_prefix('@')?.to_ascii_lowercase();
    Some(match word.as_str() {
        "hourly" => "0 * * * *",
        "daily" | "midnight" => "0 0 * * *",
        "weekly" => "0 0 * * 0",
        "monthly" => "0 0 1 * *",
        "yearly" | "annually" => "0 0 1 1 *",
        _ => return None,
    })
}

/// A field that was read: a bit for each number, and how to say it without names.
struct Read {
    set: u64,
    numeric: String,
}

impl Field {
    fn read(&self, text: &str) -> Result<Read, ScheduleError> {
        let mut read = Read { set: 0, numeric: String::new() };
        for part in text.split(',') {
            let wrong = |why: String| ScheduleError::Field { field: self.name, text: text.to_owned(), why };
            let (first, last, step, numeric) = self.part(part).map_err(wrong)?;
            read.set |= (first..=last).step_by(step).fold(0, |set, number| set | 1 << number);
            if !read.numeric.is_empty() {
                read.numeric.push(',');
            }
            read.numeric.push_str(&numeric);
        }
        Ok(read)
    }

    /// One of the parts between commas: its first and last number, the step, and how to say it.
    fn part(&self, part: &str) -> Result<(u32, u32, usize, String), String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (part, None),
        };
        let (first, last, mut numeric) = match (range, range.split_once('-')) {
            ("*" | "?", _) => (self.low, self.top(), "*".to_owned()),
            (_, Some((first, last))) => {
                let (first, last) = (self.number(first)?, self.number(last)?);
                if first > last {
                    return Err(format!("goes backwards from {first} to {last}"));
                }
                (first, last, format!("{first}-{last}"))
            }
            // A step from a number on goes to the end.
            (one, None) if step.is_some() => {
                let first = self.number(one)?;
                (first, self.top(), format!("{first}-{}", self.top()))
            }
            (one, None) => {
                let number = self.number(one)?;
                (number, number, number.to_string())
            }
        };
        if let Some(step) = step {
            numeric = format!("{numeric}/{step}");
        }
        Ok((first, last, step.unwrap_or(1), numeric))
    }

    /// The largest number that does not mean the same as another.
    fn top(&self) -> u32 {
        if self.high == WEEKDAY.high { WEEKDAY.high - 1 } else { self.high }
    }

    fn step(&self, text: &str) -> Result<usize, String> {
        match text.parse::<usize>() {
            Ok(0) => Err("has a step of 0".to_owned()),
            Ok(step) if step <= self.high as usize => Ok(step),
            Ok(step) => Err(format!("has a step of {step}, which is more than there are")),
            Err(_) => Err(format!("has `{text}` for a step, which is no number")),
        }
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        if text.is_empty() {
            return Err("lacks a number".to_owned());
        }
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u32>() {
            Ok(number) if digits && (self.low..=self.high).contains(&number) => Ok(number),
            _ if digits => Err(format!("has {text}, which is not from {} to {}", self.low, self.high)),
            _ => self.named(text),
        }
    }

    /// A name, whole or its first three letters.
    fn named(&self, text: &str) -> Result<u32, String> {
        let word = text.to_ascii_lowercase();
        let is = |name: &str| word == name || (word.len() == SHORT && name.starts_with(&word));
        let found = self.names.iter().position(|name| is(name)).and_then(|at| u32::try_from(at).ok());
        found.map(|at| at + self.low).ok_or_else(|| {
            let names = if self.names.is_empty() { "" } else { " or a name" };
            format!("has `{text}`, which is no number{names}")
        })
    }
}

fn is_star(text: &str) -> bool {
    text.starts_with(['*', '?'])
}

fn has(set: u64, number: u32) -> bool {
    set >> number & 1 == 1
}
