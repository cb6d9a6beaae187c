//! The record of runs, `cron/executions.db`: the original's table, with some columns of ours.
//!
//! A row is added before a run begins, and only one process can add the row of a time of a job; so no
//! time is run twice, whoever looks and whenever.

use std::path::PathBuf;
use std::time::Duration;

use hermes_core::schedule::{LATE, moment, written};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, params};

use super::run::{Ended, Outcome, Run, Source};
use super::{CronHome, changes};
use crate::disk;
use crate::error::StoreError;

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many rows are kept.
const MOST_ROWS: i64 = 20_000;
/// Names of our processes begin so; those of the original are left alone.
pub(super) const OURS: &str = "hermes-";

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS executions (
    id TEXT PRIMARY KEY, job_id TEXT NOT NULL, source TEXT, process_id TEXT, pid INTEGER,
    process_started_at TEXT, status TEXT NOT NULL, claimed_at TEXT, started_at TEXT, finished_at TEXT,
    error TEXT
)";

/// Columns that the original's table lacks.
const OWN: [(&str, &str); 9] = [
    ("job_name", "TEXT"),
    ("scheduled_for", "INTEGER"),
    ("outcome", "TEXT"),
    ("session_id", "TEXT"),
    ("model", "TEXT"),
    ("output", "TEXT"),
    ("delivery_error", "TEXT"),
    ("missed_count", "INTEGER"),
    ("missed_until", "INTEGER"),
];

const INDEXES: &str = "
CREATE UNIQUE INDEX IF NOT EXISTS executions_once ON executions (job_id, scheduled_for)
    WHERE scheduled_for IS NOT NULL;
CREATE INDEX IF NOT EXISTS executions_open ON executions (process_id)
    WHERE status IN ('claimed', 'running')";

const COLUMNS: &str = "id, job_id, job_name, source, pid, status, outcome, scheduled_for, claimed_at, \
     started_at, finished_at, error, session_id, model, output, delivery_error, missed_count, missed_until";

/// A row that is to be added.
pub(super) struct NewRun<'a> {
    pub(super) id: String,
    pub(super) job: (&'a str, &'a str),
    pub(super) source: Source,
    pub(super) scheduled_for: Option<Timestamp>,
    /// Times that were missed, and why, instead of a run.
    pub(super) missed: Option<(u64, Timestamp, &'static str)>,
}

/// The record of runs.
pub struct Runs {
    pub(super) db: Connection,
    path: PathBuf,
}

impl CronHome {
    /// The record of runs, which is made if there is none.
    pub fn runs(&self) -> Result<Runs, StoreError> {
        let path = self.folder.join("executions.db");
        disk::make_private_folder(&self.folder)?;
        disk::create_new(&path, "")?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&path, flags).map_err(|wrong| failed(&path, &wrong))?;
        let runs = Runs { db, path };
        runs.prepare()?;
        Ok(runs)
    }

    /// The record of runs, if there is one.
    pub fn existing_runs(&self) -> Result<Option<Runs>, StoreError> {
        if disk::is_file(&self.folder.join("executions.db")) { self.runs().map(Some) } else { Ok(None) }
    }
}

impl Runs {
    fn prepare(&self) -> Result<(), StoreError> {
        let settings = || {
            self.db.busy_timeout(PATIENCE)?;
            // What is claimed is on the disk before it begins.
            self.db.execute_batch("PRAGMA synchronous = FULL")
        };
        self.told(settings())?;
        if self.told(self.is_made())? {
            return Ok(());
        }
        // A database waits for no other that changes how it is kept: those who would make it take turns.
        let _turn = disk::lock(&self.path)?;
        if self.told(self.is_made())? {
            return Ok(());
        }
        self.told(self.db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
        self.together(|| self.told(self.make_tables()))
    }

    /// Whether all of its tables are there.
    fn is_made(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('executions_open', 'job_changes')";
        self.db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| count == 2)
    }

    fn make_tables(&self) -> rusqlite::Result<()> {
        self.db.execute_batch(TABLE)?;
        let mut list = self.db.prepare("SELECT name FROM pragma_table_info('executions')")?;
        let there: Vec<String> = list.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for (name, kind) in OWN.iter().filter(|(name, _)| !there.iter().any(|known| known == name)) {
            self.db.execute_batch(&format!("ALTER TABLE executions ADD COLUMN {name} {kind}"))?;
        }
        self.db.execute_batch(INDEXES)?;
        self.db.execute_batch(changes::TABLE)
    }

    /// Whoever is in a hurry leaves it to others to tidy up the log of the record: what is in it is on the disk.
    pub(super) fn in_a_hurry(&self) -> Result<(), StoreError> {
        self.told(self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop))
    }

    /// Does several things in one step: all of them are on the disk then, or none.
    pub(super) fn together<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.told(self.db.execute_batch("BEGIN IMMEDIATE"))?;
        let done = work().and_then(|done| self.told(self.db.execute_batch("COMMIT")).map(|()| done));
        if done.is_err() {
            // What led here is the error to tell.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        done
    }

    pub(super) fn told<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|wrong| failed(&self.path, &wrong))
    }

    /// Adds a row; says whether it is new. One that is not was somebody else's.
    pub(super) fn add(&self, process: &str, now: Timestamp, row: &NewRun<'_>) -> Result<bool, StoreError> {
        let sql = "INSERT OR IGNORE INTO executions (id, job_id, job_name, source, process_id, pid, status, \
                   outcome, scheduled_for, claimed_at, finished_at, error, missed_count, missed_until) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let now = written(now, &TimeZone::UTC);
        let source = match row.source {
            Source::Schedule => "schedule",
            Source::Manual => "manual",
        };
        let missed = row.missed.as_ref();
        let outcome = missed.map(|_| Outcome::Missed);
        let values = params![
            row.id,
            row.job.0,
            row.job.1,
            source,
            process,
            std::process::id(),
            outcome.map_or("claimed", Outcome::status),
            outcome.map(Outcome::word),
            row.scheduled_for.map(Timestamp::as_second),
            now,
            missed.map(|_| now.as_str()),
            missed.map(|(_, _, why)| *why),
            missed.map(|(count, _, _)| i64::try_from(*count).unwrap_or(i64::MAX)),
            missed.map(|(_, until, _)| until.as_second()),
        ];
        let added = self.db.prepare_cached(sql).and_then(|mut insert| insert.execute(values));
        self.told(added.map(|added| added == 1))
    }

    /// Forgets the oldest rows where there are too many.
    pub(super) fn forget_old(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM executions WHERE rowid <= (SELECT max(rowid) FROM executions) - ?1 \
                   AND status NOT IN ('claimed', 'running')";
        self.told(self.db.execute(sql, [MOST_ROWS]).map(drop))
    }

    /// A run begins, in this conversation.
    pub fn began(&self, id: &str, session: Option<&str>, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE executions SET status = 'running', started_at = ?2, session_id = ?3 WHERE id = ?1";
        self.told(self.db.execute(sql, params![id, written(now, &TimeZone::UTC), session]).map(drop))
    }

    /// A run has ended.
    pub(super) fn ended(&self, id: &str, end: &Ended, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE executions SET status = ?2, outcome = ?3, finished_at = ?4, error = ?5, model = ?6, \
                   output = ?7, delivery_error = ?8 WHERE id = ?1";
        let (status, word) = (end.outcome.status(), end.outcome.word());
        let now = written(now, &TimeZone::UTC);
        let row = params![id, status, word, now, end.error, end.model, end.output, end.delivery_error];
        self.told(self.db.execute(sql, row).map(drop))
    }

    /// What was to be told about a run did not arrive.
    pub fn undelivered(&self, id: &str, why: &str) -> Result<(), StoreError> {
        let sql = "UPDATE executions SET delivery_error = ?2 WHERE id = ?1";
        self.told(self.db.execute(sql, params![id, why]).map(drop))
    }

    /// One run.
    pub fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        Ok(self.select("WHERE id = ?1", params![id])?.pop())
    }

    /// The newest runs first, of one job or of all.
    pub fn newest(&self, job: Option<&str>, limit: u32) -> Result<Vec<Run>, StoreError> {
        let tail = "WHERE ?1 IS NULL OR job_id = ?1 ORDER BY rowid DESC LIMIT ?2";
        self.select(tail, params![job, limit])
    }

    /// Runs that go on now, oldest first.
    pub fn open(&self) -> Result<Vec<Run>, StoreError> {
        self.select("WHERE status IN ('claimed', 'running') ORDER BY rowid", params![])
    }

    /// The processes that have runs, of our kind.
    pub(super) fn processes(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT process_id FROM executions \
                   WHERE status IN ('claimed', 'running') AND process_id LIKE ?1 || '%'";
        self.told((|| {
            let mut list = self.db.prepare_cached(sql)?;
            list.query_map([OURS], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
        })())
    }

    /// The processes that have runs of this job, of our kind.
    pub(super) fn processes_of(&self, job: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT process_id FROM executions \
                   WHERE status IN ('claimed', 'running') AND job_id = ?1 AND process_id LIKE ?2 || '%'";
        self.told((|| {
            let mut list = self.db.prepare_cached(sql)?;
            list.query_map([job, OURS], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
        })())
    }

    /// Marks what a process left behind that is not there any more.
    pub(super) fn interrupt(&self, process: &str, now: Timestamp) -> Result<Vec<Run>, StoreError> {
        let left = "WHERE process_id = ?1 AND status IN ('claimed', 'running') ORDER BY rowid";
        let ids: Vec<String> = self.select(left, params![process])?.into_iter().map(|run| run.id).collect();
        let sql = "UPDATE executions SET outcome = 'interrupted', finished_at = ?2, error = CASE status \
                   WHEN 'claimed' THEN 'the program ended before the run began' \
                   ELSE 'the program ended during the run' END, status = 'unknown' \
                   WHERE process_id = ?1 AND status IN ('claimed', 'running')";
        self.told(self.db.execute(sql, params![process, written(now, &TimeZone::UTC)]))?;
        let runs: Result<Vec<_>, _> = ids.iter().map(|id| self.run(id)).collect();
        Ok(runs?.into_iter().flatten().collect())
    }

    fn select(&self, tail: &str, values: impl rusqlite::Params) -> Result<Vec<Run>, StoreError> {
        self.told((|| {
            let mut list = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM executions {tail}"))?;
            list.query_map(values, read)?.collect::<Result<Vec<Run>, _>>()
        })())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let time = |second: Option<i64>| {
        second.and_then(|second| Timestamp::from_second(second).ok()).map(|at| written(at, &TimeZone::UTC))
    };
    let (status, word): (String, Option<String>) = (row.get("status")?, row.get("outcome")?);
    let (due, started): (Option<i64>, Option<String>) = (row.get("scheduled_for")?, row.get("started_at")?);
    let began = started.as_deref().and_then(|text| moment(text, &TimeZone::UTC));
    let late = due.zip(began).map(|(due, began)| began.as_second() - due);
    Ok(Run {
        id: row.get("id")?,
        job_id: row.get("job_id")?,
        job_name: row.get("job_name")?,
        source: row.get("source")?,
        pid: row.get("pid")?,
        outcome: Outcome::of(word.as_deref().unwrap_or_default(), &status),
        status,
        scheduled_for: time(due),
        claimed_at: row.get("claimed_at")?,
        started_at: started,
        finished_at: row.get("finished_at")?,
        late_seconds: late.filter(|late| *late > LATE.as_secs()),
        error: row.get("error")?,
        session_id: row.get("session_id")?,
        model: row.get("model")?,
        output: row.get("output")?,
        delivery_error: row.get("delivery_error")?,
        missed_count: row.get("missed_count")?,
        missed_until: time(row.get("missed_until")?),
    })
}

fn failed(path: &std::path::Path, wrong: &rusqlite::Error) -> StoreError {
    let source = std::io::Error::other(wrong.to_string());
    StoreError::Io { doing: "use", path: path.to_owned(), source }
}
