//! Goes through the text of `jobs.json` and finds where each job stands, and when it is due.
//!
//! Ten thousand jobs are some ten megabytes, and somebody else may have written them a moment ago. So of
//! each job only the five fields that are needed are read, where they stand; the rest is passed over from
//! quote to quote. What is passed over must be JSON all the same: a file that is none is not touched. Where
//! an earlier state of the file is known, jobs that read as they did then are passed over by their sums.

mod cursor;

use std::ops::Range;

use jiff::Timestamp;

use super::index::Row;
use cursor::{Cursor, Wanted, word};

pub(super) use cursor::Word;

/// The name of the list.
const JOBS: &str = "jobs";
/// The time of the last change.
const UPDATED: &str = "updated_at";

/// When a job is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    /// Now: its time is not known, or in doubt.
    Now,
    /// At this second.
    At(i64),
    /// It does not wait for its time.
    Never,
}

impl When {
    /// For a job that waits or does not, and its next time as it is written. A time without an offset is in
    /// doubt: the job itself may say which zone is meant.
    pub(super) fn of(waits: bool, next: Option<&str>) -> Self {
        if !waits {
            return Self::Never;
        }
        let next = next.and_then(|next| next.trim().parse::<Timestamp>().ok());
        next.map_or(Self::Now, |next| Self::At(next.as_second()))
    }

    /// Whether it is to be looked at now.
    pub(super) fn is_come(self, now: Timestamp) -> bool {
        self <= Self::At(now.as_second())
    }
}

/// A job, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) id: Word,
    pub(super) name: Word,
    pub(super) when: When,
    /// Where it stands.
    pub(super) span: Range<usize>,
}

/// The file, as far as it is read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) jobs: Vec<Found>,
    /// Other members of the top level: their names, and where they stand.
    pub(super) others: Vec<(String, Range<usize>)>,
}

/// Goes through a file: an object with a list of jobs, or (as it once was) just the list.
pub(super) fn scan(text: &str) -> Result<Scanned, String> {
    let (mut jobs, mut times) = (Vec::new(), Times::default());
    let others = walk(text, |at| {
        jobs.push(job(at, &mut times)?);
        Ok(())
    })?;
    Ok(Scanned { jobs, others })
}

/// Where the jobs of a file stand, when they stood as in `known` before.
pub(super) fn rows(text: &str, known: &[Row]) -> Result<Vec<Row>, String> {
    let (mut rows, mut next) = (Vec::with_capacity(known.len() + 1), 0);
    let mut times = Times::default();
    walk(text, |at| {
        at.next();
        if let Some(row) = known.get(next).and_then(|row| row.again(text, at.at)) {
            next += 1;
            at.at = row.span().end;
            rows.push(row);
            return Ok(());
        }
        let job = job(at, &mut times)?;
        let row = Row::new(job.id.of(text), job.when, &job.span, text);
        // It was changed, or those before it are gone, or it is new.
        let later = known.get(next..).unwrap_or_default().iter().take(SOME_GONE);
        next += later.enumerate().find(|(_, old)| old.is_of(&row)).map_or(0, |(at, _)| at + 1);
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

/// So many jobs may be gone in a row before the others are read anew.
const SOME_GONE: usize = 256;

/// Goes through a file and calls at each job, which has to be taken; what stands beside them.
fn walk<'a>(
    text: &'a str,
    mut job: impl FnMut(&mut Cursor<'a>) -> Result<(), Wanted>,
) -> Result<Vec<(String, Range<usize>)>, String> {
    let mut at = Cursor::new(text);
    let walked = file(&mut at, &mut job);
    walked.map_err(|wanted| format!("line {}: {wanted} is expected here", at.line()))
}

fn file<'a>(
    at: &mut Cursor<'a>,
    job: &mut impl FnMut(&mut Cursor<'a>) -> Result<(), Wanted>,
) -> Result<Vec<(String, Range<usize>)>, Wanted> {
    let mut others = Vec::new();
    match at.next() {
        None => {}
        Some(b'[') => at.items(job)?,
        _ => at.members(|at, name| {
            match name.inside {
                JOBS => at.items(&mut *job)?,
                UPDATED => at.pass(0)?,
                _ => {
                    let name = word(&name)?.of(at.text).to_owned();
                    at.next();
                    let begin = at.at;
                    at.pass(0)?;
                    others.push((name, begin..at.at));
                }
            }
            Ok(())
        })?,
    }
    match at.next() {
        None => Ok(others),
        Some(_) => Err("the end"),
    }
}

/// One job.
fn job<'a>(at: &mut Cursor<'a>, times: &mut Times<'a>) -> Result<Found, Wanted> {
    at.next();
    let begin = at.at;
    let (mut id, mut name, mut next) = (None, None, None);
    let mut waits = (true, true);
    at.members(|at, key| {
        match key.inside {
            "id" => id = at.maybe_word()?,
            "name" => name = at.maybe_word()?,
            "next_run_at" => next = at.maybe_word()?,
            "enabled" => waits.0 = at.maybe_yes()?.unwrap_or(true),
            "state" => {
                let state = at.maybe_word()?;
                let state = state.as_ref().map(|state| state.of(at.text));
                waits.1 = !matches!(state, Some("paused" | "completed" | "error"));
            }
            _ => at.pass(1)?,
        }
        Ok(())
    })?;
    let id = id.ok_or("a job with an id")?;
    let when = times.when(at.text, waits.0 && waits.1, next.as_ref());
    let name = name.unwrap_or(Word::Here(0..0));
    Ok(Found { id, name, when, span: begin..at.at })
}

/// The last time that was read: many jobs have the same.
#[derive(Default)]
struct Times<'a>(Option<(&'a str, When)>);

impl<'a> Times<'a> {
    fn when(&mut self, text: &'a str, waits: bool, next: Option<&Word>) -> When {
        match (waits, next) {
            (true, Some(Word::Here(range))) => {
                let time = text.get(range.clone()).unwrap_or_default();
                match self.0 {
                    Some((known, when)) if known == time => when,
                    _ => self.0.insert((time, When::of(true, Some(time)))).1,
                }
            }
            (_, next) => When::of(waits, next.map(|next| next.of(text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_fields_that_are_needed_are_read_where_they_stand() {
        let text = r#"{"v": [1, {"id": "not this"}], "jobs": [
            {"prompt": "say \"id\": \\", "id": "a", "name": "caf\u00e9", "next_run_at": "1970-01-01T00:01:00+00:00"},
            {"origin": {"id": "x", "enabled": false}, "id": "b", "enabled": null, "state": "scheduled"},
            {"id": "c", "state": "paused", "next_run_at": "1970-01-01T00:01:00+00:00"}
        ], "updated_at": "old"}"#;

        let found = scan(text).unwrap();

        let jobs: Vec<_> =
            found.jobs.iter().map(|job| (job.id.of(text), job.name.of(text), job.when)).collect();
        assert_eq!(jobs, [("a", "café", When::At(60)), ("b", "", When::Now), ("c", "", When::Never)]);
        assert_eq!(found.others.len(), 1);
        assert_eq!(text.get(found.others[0].1.clone()), Some(r#"[1, {"id": "not this"}]"#));
        let spans = found.jobs.iter().map(|job| text.get(job.span.clone()).unwrap());
        assert!(spans.map(serde_json::from_str::<Value>).all(|job| job.unwrap().is_object()));
    }

    #[test]
    fn jobs_that_are_changed_new_or_gone_are_seen_among_the_others() {
        let file = |jobs: &[(&str, &str)]| {
            let jobs = jobs.iter().map(|(id, state)| json!({ "id": id, "state": state }));
            json!({ "jobs": jobs.collect::<Vec<_>>() }).to_string()
        };
        let before = file(&[("a", "paused"), ("b", "paused"), ("c", "paused"), ("d", "paused")]);
        let known = rows(&before, &[]).unwrap();

        for after in [
            file(&[]),
            file(&[("a", "paused"), ("b", "scheduled"), ("c", "paused"), ("d", "paused")]),
            file(&[("new", "paused"), ("a", "paused"), ("d", "scheduled"), ("last", "scheduled")]),
            file(&[("d", "paused"), ("c", "paused"), ("a", "scheduled")]),
            before.replace(',', " ,\n "),
        ] {
            assert_eq!(rows(&after, &known), rows(&after, &[]), "{after}");
        }
        assert!(rows(&before.replace("]}", "}"), &known).is_err());
    }

    #[test]
    fn times_that_leave_a_doubt_are_looked_at() {
        let when = |text| When::of(true, Some(text));
        assert_eq!(when("2026-11-16T09:00:00+01:00"), When::At(1_794_816_000));
        assert_eq!(
            (when("2026-11-16T09:00:00"), when("soon"), When::of(true, None)),
            (When::Now, When::Now, When::Now)
        );
        assert!(When::Now < When::At(i64::MIN) && When::At(i64::MAX) < When::Never);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            "\\PC{0,12}".prop_map(Value::from),
            "[\"\\\\/\u{1}-\u{1f}a]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z\"\\\\]{0,4}", inner), 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_stands_beside_them_the_jobs_are_found(
            values in prop::collection::vec((any_json(), "\\PC{0,8}"), 0..5),
            other in any_json(),
            pretty in any::<bool>(),
        ) {
            let jobs: Vec<Value> = values.iter()
                .map(|(value, id)| json!({ "x": value, "id": id, "name": id, "schedule": value }))
                .collect();
            let file = json!({ "jobs": jobs, "other": other });
            let text = if pretty { serde_json::to_string_pretty(&file).unwrap() } else { file.to_string() };

            let found = scan(&text).unwrap();

            // As it is read again: not every number is then what it was.
            let file: Value = serde_json::from_str(&text).unwrap();
            let read = |range: &Range<usize>| serde_json::from_str::<Value>(text.get(range.clone()).unwrap()).unwrap();
            prop_assert_eq!(&found.jobs.iter().map(|job| read(&job.span)).collect::<Value>(), &file["jobs"]);
            prop_assert!(found.jobs.iter().zip(&values).all(|(job, (_, id))| job.id.of(&text) == id));
            prop_assert_eq!(read(&found.others[0].1), file["other"].clone());
            let all = rows(&text, &[]).unwrap();
            prop_assert_eq!(&rows(&text, &all).unwrap(), &all);
            let spans: Vec<_> = found.jobs.iter().map(|job| job.span.clone()).collect();
            prop_assert_eq!(all.iter().map(|row| row.span()).collect::<Vec<_>>(), spans);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{},:\"\\\\ejobs0-9tn u.-]{0,40}|\\PC{0,40}") {
            if scan(&text).is_ok() {
                prop_assert!(text.trim().is_empty() || serde_json::from_str::<IgnoredAny>(&text).is_ok(), "{}", text);
            }
        }
    }
}
