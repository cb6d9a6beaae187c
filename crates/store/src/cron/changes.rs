//! What runs have changed and what does not stand in `jobs.json` yet.
//!
//! A claim and what it changes of its job are one entry of the record, whole or not at all; to write ten
//! thousand jobs for it would take longer than the look. Everybody who reads the jobs reads these changes
//! first and brings them in; whoever writes the file takes them away after it, under the same lock. A kill in
//! between leaves changes that the file has already, which change nothing more.

use std::collections::BTreeMap;

use hermes_core::cron::{Job, Standing};
use rusqlite::params;

use super::runs::Runs;
use crate::error::StoreError;

pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS job_changes (job_id TEXT PRIMARY KEY, before TEXT NOT NULL, after TEXT NOT NULL)";

/// Changes by the ids of their jobs.
pub(super) type Changes = BTreeMap<String, Change>;

/// How the runs of a job have changed it, from how it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) before: Standing,
    pub(super) after: Standing,
}

impl Change {
    /// Brings it into a job as the file has it; says whether that made a difference.
    pub(super) fn apply(&self, job: &mut Job) -> bool {
        let stands = Standing::of(job);
        let carried = stands.clone().carried(&self.before, &self.after);
        let differs = carried != stands;
        if differs {
            carried.give(job);
        }
        differs
    }
}

impl Runs {
    /// All changes. One that nobody can read is left out.
    pub(super) fn changes(&self) -> Result<Changes, StoreError> {
        self.told((|| {
            let mut list = self.db.prepare_cached("SELECT job_id, before, after FROM job_changes")?;
            let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let read = |row: rusqlite::Result<(String, String, String)>| match row {
                Ok((id, before, after)) => {
                    let both = serde_json::from_str(&before).ok().zip(serde_json::from_str(&after).ok());
                    both.map(|(before, after)| Ok((id, Change { before, after })))
                }
                Err(wrong) => Some(Err(wrong)),
            };
            rows.filter_map(read).collect()
        })())
    }

    /// Whether there are any.
    pub(super) fn has_changes(&self) -> Result<bool, StoreError> {
        self.told(self.db.query_row("SELECT EXISTS (SELECT 1 FROM job_changes)", [], |row| row.get(0)))
    }

    /// Notes changes, each in place of what was known about its job.
    pub(super) fn note<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a str, &'a Change)>,
    ) -> Result<(), StoreError> {
        self.told((|| {
            let sql = "INSERT OR REPLACE INTO job_changes (job_id, before, after) VALUES (?1, ?2, ?3)";
            let mut insert = self.db.prepare_cached(sql)?;
            let text = |standing: &Standing| {
                serde_json::to_string(standing)
                    .map_err(|wrong| rusqlite::Error::ToSqlConversionFailure(Box::new(wrong)))
            };
            for (id, change) in changes {
                insert.execute(params![id, text(&change.before)?, text(&change.after)?])?;
            }
            Ok(())
        })())
    }

    /// The file has them all.
    pub(super) fn forget_changes(&self) -> Result<(), StoreError> {
        self.told(self.db.execute("DELETE FROM job_changes", []).map(drop))
    }
}
