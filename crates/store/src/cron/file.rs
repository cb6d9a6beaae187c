//! `jobs.json`: a list of jobs, and what else stands beside it.
//!
//! The text of jobs that do not change is written again as it stood, so that nothing in it is lost.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hermes_core::cron::Job;
use hermes_core::schedule::written;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::changes::Changes;
use super::index::{Index, Row};
use super::scan::{Found, Scanned, When, Word, scan};
use crate::disk::{self, Mode, Parts, Stamp};
use crate::error::StoreError;

/// Most bytes of the file.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The whole file, taken apart as far as is needed.
#[derive(Debug)]
pub(super) struct JobsFile {
    path: PathBuf,
    text: String,
    jobs: Vec<Entry>,
    /// Other members of the top level, as they stood.
    others: Vec<(String, Range<usize>)>,
    changed: bool,
    stamp: Option<Stamp>,
}

#[derive(Debug)]
struct Entry {
    id: Word,
    name: Word,
    when: When,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// As it stands in the file.
    Kept(Range<usize>),
    /// As it is now.
    New(String),
}

impl JobsFile {
    /// Reads the file; without one there are no jobs.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let parts = Parts::open(path)?;
        let text = parts.as_ref().map(|parts| parts.text(MAX_BYTES)).transpose()?.unwrap_or_default();
        let stamp = parts.filter(Parts::is_unchanged).map(|parts| parts.stamp());
        let path = path.to_owned();
        let Scanned { jobs, others } = scan(&text).map_err(|why| broken(&path, &why))?;
        let entry =
            |job: Found| Entry { id: job.id, name: job.name, when: job.when, body: Body::Kept(job.span) };
        let jobs = jobs.into_iter().map(entry).collect();
        Ok(Self { path, text, jobs, others, changed: false, stamp })
    }

    /// Ids and names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.jobs.iter().map(|entry| (entry.id.of(&self.text), entry.name.of(&self.text)))
    }

    /// One job, whole.
    pub(super) fn job(&self, at: usize) -> Result<Job, StoreError> {
        let Some(entry) = self.jobs.get(at) else { return Err(broken(&self.path, "there is no such job")) };
        job(&self.path, self.body(entry))
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
        let entry = self.entry(job)?;
        self.jobs.push(entry);
        self.changed = true;
        Ok(())
    }

    pub(super) fn set(&mut self, at: usize, job: &Job) -> Result<(), StoreError> {
        let new = self.entry(job)?;
        if let Some(entry) = self.jobs.get_mut(at) {
            *entry = new;
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

    fn entry(&self, job: &Job) -> Result<Entry, StoreError> {
        let text =
            serde_json::to_string_pretty(job).map_err(|wrong| broken(&self.path, &wrong.to_string()))?;
        Ok(Entry {
            id: Word::Told(job.id.clone()),
            name: Word::Told(job.name.clone()),
            when: When::of(job.waits(), job.next_run_at.as_deref()),
            // It stands two steps deep. Line ends inside of texts are written as `\n`.
            body: Body::New(text.replace('\n', "\n    ")),
        })
    }

    /// Brings in what runs have changed. A job that is gone, or that nobody can read, is left alone.
    pub(super) fn carry(&mut self, changes: &Changes) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        for at in 0..self.jobs.len() {
            let Some(change) = self.jobs.get(at).and_then(|entry| changes.get(entry.id.of(&self.text)))
            else {
                continue;
            };
            let Ok(mut job) = self.job(at) else { continue };
            if change.apply(&mut job) {
                self.set(at, &job)?;
            }
        }
        Ok(())
    }

    /// Where its jobs stand in the file that was read.
    pub(super) fn index(&self) -> Index {
        let row = |entry: &Entry| match &entry.body {
            Body::Kept(span) => Some(Row::new(entry.id.of(&self.text), entry.when, span, &self.text)),
            Body::New(_) => None,
        };
        self.jobs.iter().filter_map(row).collect()
    }

    /// The file that was read, if there is one and nobody wrote into it meanwhile.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// Writes the file, whole or not at all; where its jobs stand now.
    pub(super) fn write(
        &self,
        path: &Path,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<(Index, Stamp), StoreError> {
        let mut text = String::with_capacity(self.text.len() + 4096);
        let mut index = Index::default();
        text.push_str("{\n  \"jobs\": [");
        for (at, entry) in self.jobs.iter().enumerate() {
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            let begin = text.len();
            text.push_str(self.body(entry));
            let span = begin..text.len();
            index.rows.push(Row::new(entry.id.of(&self.text), entry.when, &span, &text));
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
        Ok((index, disk::write_stamped(path, &text, Mode::Private)?))
    }
}

/// A job from its text.
pub(super) fn job(path: &Path, text: &str) -> Result<Job, StoreError> {
    serde_json::from_str(text).map_err(|wrong| broken(path, &format!("job `{}`: {wrong}", id(text))))
}

/// The id in the text of a job that may make no sense otherwise.
pub(super) fn id(text: &str) -> String {
    let list = format!("[{text}]");
    let id = scan(&list).ok().and_then(|found| Some(found.jobs.first()?.id.of(&list).to_owned()));
    id.unwrap_or_default()
}

pub(super) fn broken(path: &Path, why: &str) -> StoreError {
    let source = std::io::Error::new(std::io::ErrorKind::InvalidData, why.to_owned());
    StoreError::Io { doing: "understand", path: path.to_owned(), source }
}
