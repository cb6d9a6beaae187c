//! Goes through the text of `jobs.json` and finds where each job stands, and when it is due.
//!
//! Ten thousand jobs are some ten megabytes, and somebody else may have written them a moment ago. So of
//! each job only the five fields that are needed are read, where they stand; the rest is passed over from
//! quote to quote. What is passed over must be JSON all the same: a file that is none is not touched. Where
//! an earlier state of the file is known, jobs that read as they did then are passed over by their sums.

use std::ops::Range;

use jiff::Timestamp;
use memchr::memchr2;
use serde::de::IgnoredAny;

use super::index::Row;

/// The name of the list.
const JOBS: &str = "jobs";
/// The time of the last change.
const UPDATED: &str = "updated_at";
/// Deeper nesting is not followed.
const MAX_DEPTH: usize = 100;

/// A text of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// It stands there as it is.
    Here(Range<usize>),
    /// It was written in another way.
    Told(String),
}

impl Word {
    pub(super) fn of<'a>(&'a self, text: &'a str) -> &'a str {
        match self {
            Self::Here(range) => text.get(range.clone()).unwrap_or_default(),
            Self::Told(word) => word,
        }
    }
}

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
    let mut jobs = Vec::new();
    let others = walk(text, |at| {
        jobs.push(at.job()?);
        Ok(())
    })?;
    Ok(Scanned { jobs, others })
}

/// Where the jobs of a file stand, when they stood as in `known` before.
pub(super) fn rows(text: &str, known: &[Row]) -> Result<Vec<Row>, String> {
    let (mut rows, mut next) = (Vec::with_capacity(known.len() + 1), 0);
    walk(text, |at| {
        at.next();
        if let Some(row) = known.get(next).and_then(|row| row.again(text, at.at)) {
            next += 1;
            at.at = row.span().end;
            rows.push(row);
            return Ok(());
        }
        let job = at.job()?;
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
fn walk(
    text: &str,
    mut job: impl FnMut(&mut Cursor<'_>) -> Result<(), Wanted>,
) -> Result<Vec<(String, Range<usize>)>, String> {
    let mut at = Cursor { text, at: 0, time: ("", When::Now) };
    let walked = at.file(&mut job);
    walked.map_err(|wanted| format!("line {}: {wanted} is expected here", at.line()))
}

/// What should stand where something else does.
type Wanted = &'static str;

/// A place in the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The last time that was read: many jobs have the same.
    time: (&'a str, When),
}

/// A text between quotes, and whether it is written with escapes.
struct Quoted<'a> {
    inside: &'a str,
    begin: usize,
    escaped: bool,
}

impl<'a> Cursor<'a> {
    fn file(
        &mut self,
        job: &mut impl FnMut(&mut Cursor<'_>) -> Result<(), Wanted>,
    ) -> Result<Vec<(String, Range<usize>)>, Wanted> {
        let mut others = Vec::new();
        match self.next() {
            None => {}
            Some(b'[') => self.items(job)?,
            _ => self.members(|at, name| {
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
        match self.next() {
            None => Ok(others),
            Some(_) => Err("the end"),
        }
    }

    /// One job.
    fn job(&mut self) -> Result<Found, Wanted> {
        self.next();
        let begin = self.at;
        let (mut id, mut name, mut next) = (None, None, None);
        let mut waits = (true, true);
        self.members(|at, key| {
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
        let when = self.when(waits.0 && waits.1, next.as_ref());
        let name = name.unwrap_or(Word::Here(0..0));
        Ok(Found { id, name, when, span: begin..self.at })
    }

    fn when(&mut self, waits: bool, next: Option<&Word>) -> When {
        match (waits, next) {
            (true, Some(Word::Here(range))) => {
                let text = self.text.get(range.clone()).unwrap_or_default();
                if self.time.0 != text {
                    self.time = (text, When::of(true, Some(text)));
                }
                self.time.1
            }
            (_, next) => When::of(waits, next.map(|next| next.of(self.text))),
        }
    }

    /// Calls for each member of an object, whose value has to be taken.
    fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, Quoted<'a>) -> Result<(), Wanted>,
    ) -> Result<(), Wanted> {
        self.expect(b'{', "`{`")?;
        if self.took(b'}') {
            return Ok(());
        }
        loop {
            let name = self.quoted()?;
            self.expect(b':', "`:`")?;
            each(self, name)?;
            if !self.took(b',') {
                return self.expect(b'}', "`}`");
            }
        }
    }

    /// Calls for each item of a list, which has to be taken.
    fn items(&mut self, mut each: impl FnMut(&mut Self) -> Result<(), Wanted>) -> Result<(), Wanted> {
        self.expect(b'[', "`[`")?;
        if self.took(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.took(b',') {
                return self.expect(b']', "`]`");
            }
        }
    }

    /// Passes over a value.
    fn pass(&mut self, depth: usize) -> Result<(), Wanted> {
        match self.next() {
            Some(b'n') => self.literal(b"null"),
            Some(b'"') => self.quoted().map(drop),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err("less depth"),
            Some(b'{') => self.members(|at, _| at.pass(depth + 1)),
            Some(b'[') => self.items(|at| at.pass(depth + 1)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err("a value"),
        }
    }

    fn literal<const N: usize>(&mut self, word: &[u8; N]) -> Result<(), Wanted> {
        if self.rest().first_chunk() != Some(word) {
            return Err("a value");
        }
        self.at += N;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Wanted> {
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let end = self.at + self.rest().iter().take_while(is_part).count();
        let number = self.text.get(self.at..end).unwrap_or_default();
        let is_digit = matches!(number.as_bytes(), [b'0'..=b'9']);
        if !is_digit && serde_json::from_str::<IgnoredAny>(number).is_err() {
            return Err("a number");
        }
        self.at = end;
        Ok(())
    }

    /// A text; nothing for `null`.
    fn maybe_word(&mut self) -> Result<Option<Word>, Wanted> {
        if self.next() == Some(b'n') {
            return self.literal(b"null").map(|()| None);
        }
        word(&self.quoted()?).map(Some)
    }

    /// `true` or `false`; nothing for `null`.
    fn maybe_yes(&mut self) -> Result<Option<bool>, Wanted> {
        match self.next() {
            Some(b't') => self.literal(b"true").map(|()| Some(true)),
            Some(b'f') => self.literal(b"false").map(|()| Some(false)),
            Some(b'n') => self.literal(b"null").map(|()| None),
            _ => Err("`true` or `false`"),
        }
    }

    /// The text between quotes that stands here.
    fn quoted(&mut self) -> Result<Quoted<'a>, Wanted> {
        self.expect(b'"', "a text")?;
        let (begin, mut escaped) = (self.at, false);
        loop {
            self.at += stop(self.rest()).ok_or("a closing quote")?;
            let rest = self.rest();
            if rest.first() == Some(&b'"') {
                let inside = self.text.get(begin..self.at).unwrap_or_default();
                self.at += 1;
                return Ok(Quoted { inside, begin, escaped });
            }
            escaped = true;
            let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
            self.at += match rest.get(1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') if rest.get(2..6).is_some_and(is_hex) => 6,
                _ => return Err("an escape"),
            };
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
            match rest.first() {
                Some(b'\n' | b' ') => self.at += 1 + spaces(rest),
                Some(b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn took(&mut self, byte: u8) -> bool {
        let there = self.next() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, wanted: Wanted) -> Result<(), Wanted> {
        if self.took(byte) { Ok(()) } else { Err(wanted) }
    }

    fn line(&self) -> usize {
        self.text.bytes().take(self.at).filter(|byte| *byte == b'\n').count() + 1
    }
}

/// A text between quotes as it is meant.
fn word(quoted: &Quoted<'_>) -> Result<Word, Wanted> {
    if !quoted.escaped {
        return Ok(Word::Here(quoted.begin..quoted.begin + quoted.inside.len()));
    }
    serde_json::from_str(&format!("\"{}\"", quoted.inside)).map(Word::Told).map_err(|_| "a text")
}

/// How many bytes follow the first one that are spaces, eight at a time at most.
fn spaces(rest: &[u8]) -> usize {
    let Some(eight) = rest.get(1..).and_then(<[u8]>::first_chunk) else { return 0 };
    (u64::from_le_bytes(*eight) ^ every(b' ')).trailing_zeros() as usize / 8
}

/// Where the next quote or backslash is. Most are near: the first bytes are looked at eight at a time, and
/// only a long text is worth to begin in earnest.
fn stop(rest: &[u8]) -> Option<usize> {
    let (eights, _) = rest.get(..NEAR).unwrap_or_default().as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = holds(eight, b'"') | holds(eight, b'\\');
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let far = eights.len() * 8;
    memchr2(b'"', b'\\', rest.get(far..)?).map(|at| far + at)
}

/// What is near.
const NEAR: usize = 32;

/// Eight times the same byte.
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Whether a byte is among eight: the lowest bit that is set stands in the first of them.
const fn holds(eight: u64, byte: u8) -> u64 {
    let differs = eight ^ every(byte);
    differs.wrapping_sub(every(1)) & !differs & every(0x80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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
