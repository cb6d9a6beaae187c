//! The clock of the benchmarks.

#![expect(clippy::disallowed_methods, reason = "measuring time is what this module is for")]

use std::time::{Duration, Instant};

/// Batches of which the median is taken.
const BATCHES: usize = 9;

/// What some work gave, and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let made = work();
    (made, begun.elapsed())
}

/// How long one of so many calls in a row takes.
pub(crate) fn batch(calls: u32, mut work: impl FnMut() -> Result<(), String>) -> Result<Duration, String> {
    let (done, took) = timed(|| (0..calls).try_for_each(|_| work()));
    done.map(|()| took / calls.max(1))
}

/// How long one call takes: the median over batches of calls, after one batch to warm up.
pub(crate) fn per_call(calls: u32, mut work: impl FnMut() -> Result<(), String>) -> Result<Duration, String> {
    batch(calls, &mut work)?;
    let mut times = (0..BATCHES).map(|_| batch(calls, &mut work)).collect::<Result<Vec<_>, _>>()?;
    Ok(median(&mut times))
}

/// What two ways took, side by side: both of a pair were measured right after each other, so that whatever
/// the machine does at that moment, and wherever it lets them run, falls on both alike.
#[derive(Default)]
pub(crate) struct Pairs(Vec<(Duration, Duration)>);

impl Pairs {
    pub(crate) fn push(&mut self, one: Duration, other: Duration) {
        self.0.push((one, other));
    }

    /// How many times as long the first took: the median over the pairs.
    pub(crate) fn ratio(&self) -> f64 {
        let ratios = self.0.iter().map(|(one, other)| one.as_secs_f64() / other.as_secs_f64());
        median(&mut ratios.collect::<Vec<_>>())
    }
}

/// How long one of several different calls takes: the median over them.
pub(crate) fn over_each<T>(
    inputs: impl IntoIterator<Item = T>,
    mut work: impl FnMut(T) -> Result<(), String>,
) -> Result<Duration, String> {
    let mut times = Vec::new();
    for input in inputs {
        let (done, took) = timed(|| work(input));
        done?;
        times.push(took);
    }
    Ok(median(&mut times))
}

/// The value in the middle; nothing took no time.
pub(crate) fn median<T: Copy + PartialOrd + Default>(values: &mut [T]) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn nanos(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// How often in a second.
pub(crate) fn per_second(time: Duration) -> f64 {
    (1.0 / time.as_secs_f64()).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_value_in_the_middle() {
        assert_eq!(median(&mut [5, 1, 3]), 3);
        assert_eq!(median::<u32>(&mut []), 0);
    }

    #[test]
    fn the_ratio_is_that_of_pairs_and_not_of_medians() {
        let mut pairs = Pairs::default();
        for (one, other) in [(30, 15), (100, 50), (110, 50)] {
            pairs.push(Duration::from_micros(one), Duration::from_micros(other));
        }

        assert!((pairs.ratio() - 2.0).abs() < 1e-9, "{}", pairs.ratio());
    }

    #[test]
    fn a_failure_ends_the_measurement() {
        let mut calls = 0;

        let measured = per_call(3, || {
            calls += 1;
            if calls == 2 { Err("broken".to_owned()) } else { Ok(()) }
        });

        assert_eq!((measured, calls), (Err("broken".to_owned()), 2));
    }
}
