//! What a look works with: when every job is due, and the jobs that it needs, as runs have left them.
//!
//! Where the table beside the file is true, only those jobs are read. Else all of the file is, once.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_core::cron::{Job, Standing};
use jiff::Timestamp;

use super::CronHome;
use super::changes::{Change, Changes};
use super::file;
use super::index::Index;
use super::runs::Runs;
use super::scan::{self, When};
use crate::disk::Parts;
use crate::error::StoreError;

/// Jobs, of which a few are needed.
pub(super) struct Sheet {
    path: PathBuf,
    index: Index,
    body: Body,
    changes: Changes,
    /// The jobs whose changes are not noted yet.
    fresh: BTreeSet<String>,
}

/// Where the text of a job is read.
enum Body {
    Whole(String),
    Parts(Parts),
}

/// A job that was read.
pub(super) struct Held {
    /// As it is.
    pub(super) job: Job,
    at: usize,
    /// How it stands in the file.
    before: Standing,
}

impl Sheet {
    /// What is known without reading all jobs; nothing if that is needed.
    pub(super) fn known(home: &CronHome, runs: Option<&Runs>) -> Result<Option<Self>, StoreError> {
        // Before the file: what is taken from here meanwhile stands there then.
        let changes = changes(runs)?;
        let Some(parts) = Parts::open(&home.jobs_file())? else {
            return Ok(Some(Self::new(home, Index::default(), Body::Whole(String::new()), changes)));
        };
        let Some(index) = Index::known(home, parts.stamp()) else { return Ok(None) };
        Ok(Some(Self::new(home, index, Body::Parts(parts), changes)))
    }

    /// All jobs, read if they have to be. The lock of the file is held.
    pub(super) fn open(home: &CronHome, runs: Option<&Runs>) -> Result<Self, StoreError> {
        if let Some(known) = Self::known(home, runs)? {
            return Ok(known);
        }
        let changes = changes(runs)?;
        let path = home.jobs_file();
        let Some(parts) = Parts::open(&path)? else {
            return Ok(Self::new(home, Index::default(), Body::Whole(String::new()), changes));
        };
        let text = parts.text(file::MAX_BYTES)?;
        let last = Index::last(home).map(|(last, _)| last.rows).unwrap_or_default();
        let rows = scan::rows(&text, &last).map_err(|why| file::broken(&path, &why))?;
        let index = Index { rows };
        if parts.is_unchanged() {
            index.keep(home, parts.stamp());
        }
        Ok(Self::new(home, index, Body::Whole(text), changes))
    }

    fn new(home: &CronHome, index: Index, body: Body, changes: Changes) -> Self {
        let mut sheet = Self { path: home.jobs_file(), index, body, changes, fresh: BTreeSet::new() };
        let changed: Vec<String> = sheet.changes.keys().cloned().collect();
        for id in changed {
            // One that nobody can read is looked at, and told of, when its time comes.
            if let Ok(Some(held)) = sheet.find(&id) {
                sheet.expect(&held);
            }
        }
        sheet
    }

    /// When the first of the waiting jobs is due; one whose time is in doubt is due to be looked at.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        self.index.earliest()
    }

    /// The jobs whose time has come.
    pub(super) fn come(&self, now: Timestamp) -> Vec<usize> {
        let rows = self.index.rows.iter().enumerate();
        rows.filter(|(_, row)| row.when.is_come(now)).map(|(at, _)| at).collect()
    }

    /// A job as runs have left it. Where it cannot be read, its id as far as that can be told, and why.
    pub(super) fn job(&self, at: usize) -> Result<Held, (String, StoreError)> {
        let span = self.index.rows.get(at).map(|row| row.span()).unwrap_or_default();
        let text = match &self.body {
            Body::Whole(text) => Ok(text.get(span).unwrap_or_default().to_owned()),
            Body::Parts(parts) => parts.part(span.start as u64, span.len()),
        };
        let text = text.map_err(|wrong| (String::new(), wrong))?;
        let mut job = file::job(&self.path, &text).map_err(|wrong| (file::id(&text), wrong))?;
        let before = Standing::of(&job);
        if let Some(change) = self.changes.get(&job.id) {
            change.apply(&mut job);
        }
        Ok(Held { job, at, before })
    }

    /// The job with this id, if there is one.
    pub(super) fn find(&self, id: &str) -> Result<Option<Held>, StoreError> {
        for at in self.index.places(id) {
            match self.job(at) {
                Ok(held) if held.job.id == id => return Ok(Some(held)),
                Err((known, wrong)) if known == id => return Err(wrong),
                _ => {}
            }
        }
        Ok(None)
    }

    /// The job stands so from now on.
    pub(super) fn set(&mut self, held: &Held) {
        let change = Change { before: held.before.clone(), after: Standing::of(&held.job) };
        self.changes.insert(held.job.id.clone(), change);
        self.fresh.insert(held.job.id.clone());
        self.expect(held);
    }

    fn expect(&mut self, held: &Held) {
        if let Some(row) = self.index.rows.get_mut(held.at) {
            row.when = When::of(held.job.waits(), held.job.next_run_at.as_deref());
        }
    }

    /// Notes what was set.
    pub(super) fn note(&self, runs: &Runs) -> Result<(), StoreError> {
        runs.note(self.fresh.iter().filter_map(|id| Some((id.as_str(), self.changes.get(id)?))))
    }
}

fn changes(runs: Option<&Runs>) -> Result<Changes, StoreError> {
    runs.map_or_else(|| Ok(Changes::new()), Runs::changes)
}
