//! `jobs.json`: a list of jobs, and what else stands beside it.
//!
//! Ten thousand jobs are some megabytes. Of each only a few fields are read; the text of those that do
//! not change is written again as it stood, so that nothing in it is lost.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hermes_core::cron::Job;
use hermes_core::schedule::{moment, written};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::disk::{self, Mode};
use crate::error::StoreError;

/// Most bytes of the file.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The name of the list.
const JOBS: &str = "jobs";
/// The time of the last change.
const UPDATED: &str = "updated_at";

/// The file, taken apart as far as is needed.
#[derive(Debug)]
pub(super) struct JobsFile {
    path: PathBuf,
    text: String,
    jobs: Vec<Entry>,
    /// Other members of the top level, as they stood.
    others: Vec<(String, Range<usize>)>,
    changed: bool,
}

#[derive(Debug)]
struct Entry {
    head: Head,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// As it stands in the file.
    Kept(Range<usize>),
    /// As it is now.
    New(String),
}

/// What is read of every job.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Head {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    next_run_at: Option<String>,
}

impl Head {
    fn of(job: &Job) -> Self {
        Self {
            id: job.id.clone(),
            name: Some(job.name.clone()),
            enabled: Some(job.enabled),
            state: Some(job.state.word().to_owned()),
            next_run_at: job.next_run_at.clone(),
        }
    }

    /// Whether it waits for its time.
    pub(super) fn waits(&self) -> bool {
        let state = self.state.as_deref();
        self.enabled.unwrap_or(true) && !matches!(state, Some("paused" | "completed" | "error"))
    }

    /// When it is due; a time without an offset is taken as UTC here, and looked at closely later.
    pub(super) fn due_at(&self) -> Option<Timestamp> {
        moment(self.next_run_at.as_deref()?, &TimeZone::UTC)
    }
}

impl JobsFile {
    /// Reads the file; without one there are no jobs.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let text = disk::read(path, MAX_BYTES)?.unwrap_or_default();
        let mut file =
            Self { path: path.to_owned(), text, jobs: Vec::new(), others: Vec::new(), changed: false };
        let mut at = Cursor { text: &file.text, at: 0 };
        let taken = at.file();
        let (jobs, others) = taken.map_err(|why| file.broken(&why))?;
        (file.jobs, file.others) = (jobs, others);
        Ok(file)
    }

    fn broken(&self, why: &str) -> StoreError {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, why.to_owned());
        StoreError::Io { doing: "understand", path: self.path.clone(), source }
    }

    /// Ids and names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.jobs.iter().map(|entry| (entry.head.id.as_str(), entry.head.name.as_deref().unwrap_or_default()))
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.jobs.iter().map(|entry| &entry.head)
    }

    /// One job, whole.
    pub(super) fn job(&self, at: usize) -> Result<Job, StoreError> {
        let Some(entry) = self.jobs.get(at) else { return Err(self.broken("there is no such job")) };
        serde_json::from_str(self.body(entry))
            .map_err(|wrong| self.broken(&format!("job `{}`: {wrong}", entry.head.id)))
    }

    /// All jobs.
    pub(super) fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        (0..self.jobs.len()).map(|at| self.job(at)).collect()
    }

    fn body<'a>(&'a self, entry: &'a Entry) -> &'a str {
        match &entry.body {
            Body::Kept(range) => self.text.get(range.clone()).unwrap_or_default(),
            Body::New(text) => text,
        }
    }

    pub(super) fn push(&mut self, job: &Job) -> Result<(), StoreError> {
        let body = Body::New(self.spelt(job)?);
        self.jobs.push(Entry { head: Head::of(job), body });
        self.changed = true;
        Ok(())
    }

    pub(super) fn set(&mut self, at: usize, job: &Job) -> Result<(), StoreError> {
        let text = self.spelt(job)?;
        if let Some(entry) = self.jobs.get_mut(at) {
            *entry = Entry { head: Head::of(job), body: Body::New(text) };
            self.changed = true;
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, at: usize) {
        if at < self.jobs.len() {
            self.jobs.remove(at);
            self.changed = true;
        }
    }

    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    fn spelt(&self, job: &Job) -> Result<String, StoreError> {
        let text = serde_json::to_string_pretty(job).map_err(|wrong| self.broken(&wrong.to_string()))?;
        // It stands two steps deep. Line ends inside of texts are written as `\n`.
        Ok(text.replace('\n', "\n    "))
    }

    /// When the first of the waiting jobs is due; one whose time is not known is due to be looked at.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        let waiting = self.heads().filter(|head| head.waits());
        waiting.map(|head| head.due_at().unwrap_or(Timestamp::MIN)).min()
    }

    /// Writes the file, whole or not at all.
    pub(super) fn write(&self, path: &Path, now: Timestamp, zone: &TimeZone) -> Result<(), StoreError> {
        let mut text = String::with_capacity(self.text.len() + 4096);
        text.push_str("{\n  \"jobs\": [");
        for (at, entry) in self.jobs.iter().enumerate() {
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            text.push_str(self.body(entry));
        }
        text.push_str(if self.jobs.is_empty() { "]" } else { "\n  ]" });
        for (name, range) in &self.others {
            text.push_str(",\n  ");
            text.push_str(&Value::from(name.as_str()).to_string());
            text.push_str(": ");
            text.push_str(self.text.get(range.clone()).unwrap_or("null"));
        }
        text.push_str(",\n  \"updated_at\": ");
        text.push_str(&Value::from(written(now, zone)).to_string());
        text.push_str("\n}\n");
        disk::write(path, &text, Mode::Private)
    }
}

/// Goes through the text, from value to value.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// The jobs, and the names and places of what stands beside them.
type Taken = (Vec<Entry>, Vec<(String, Range<usize>)>);

impl Cursor<'_> {
    /// The whole file: an object with a list of jobs, or (as it once was) just the list.
    fn file(&mut self) -> Result<Taken, String> {
        let (mut jobs, mut others) = (Vec::new(), Vec::new());
        match self.peek() {
            None => {}
            Some('[') => jobs = self.entries()?,
            _ => {
                self.expect('{')?;
                while !self.took('}') {
                    let (name, _) = self.value::<String>()?;
                    self.expect(':')?;
                    match name.as_str() {
                        JOBS => jobs = self.entries()?,
                        UPDATED => {
                            self.value::<IgnoredAny>()?;
                        }
                        _ => others.push((name, self.value::<IgnoredAny>()?.1)),
                    }
                    if !self.took(',') {
                        self.expect('}')?;
                        break;
                    }
                }
            }
        }
        match self.peek() {
            None => Ok((jobs, others)),
            Some(_) => Err(self.wrong("the end")),
        }
    }

    fn entries(&mut self) -> Result<Vec<Entry>, String> {
        let mut jobs = Vec::new();
        self.expect('[')?;
        while !self.took(']') {
            let (head, range) = self.value::<Head>()?;
            jobs.push(Entry { head, body: Body::Kept(range) });
            if !self.took(',') {
                self.expect(']')?;
                break;
            }
        }
        Ok(jobs)
    }

    /// The value that stands here, and where it stands.
    fn value<T: for<'de> Deserialize<'de>>(&mut self) -> Result<(T, Range<usize>), String> {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        match stream.next() {
            Some(Ok(value)) => {
                let range = self.at..self.at + stream.byte_offset();
                self.at = range.end;
                Ok((value, range))
            }
            Some(Err(wrong)) => Err(format!("line {}: {wrong}", self.line())),
            None => Err(self.wrong("a value")),
        }
    }

    /// The next letter that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn took(&mut self, letter: char) -> bool {
        let there = self.peek() == Some(letter);
        if there {
            self.at += letter.len_utf8();
        }
        there
    }

    fn expect(&mut self, letter: char) -> Result<(), String> {
        if self.took(letter) { Ok(()) } else { Err(self.wrong(&format!("`{letter}`"))) }
    }

    fn wrong(&self, expected: &str) -> String {
        format!("line {}: {expected} is expected here", self.line())
    }

    fn line(&self) -> usize {
        self.text.bytes().take(self.at).filter(|byte| *byte == b'\n').count() + 1
    }
}
