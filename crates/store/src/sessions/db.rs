//! One connection to the store: opening, transactions, and patience with other processes.
//!
//! Many processes share the file. A writer takes the write lock at the beginning of its
//! transaction, so that it never fails in the middle; while another has it, it pauses for a time
//! that differs from process to process, until its patience ends. Readers see one moment of the
//! store and are never kept waiting by a writer.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::call_log::{CallLog, Mark};
use super::clock::Clock;
use super::error::SessionError;
use super::moment::Moment;
use super::schema;
use crate::disk;

/// How long a busy database is tried.
const PATIENCE: Duration = Duration::from_secs(30);
/// The first and the longest pause between two tries.
const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(40);
/// Most of the file kept in memory; taken only as it is needed.
const CACHE_KB: u32 = 16 * 1024;
/// The log is folded into the file when it has this many pages. Whoever opens the file first reads all of the log,
/// so that it is shorter than the library would have it.
const FOLD_PAGES: u32 = 250;
/// Statements kept ready.
const PREPARED: usize = 64;

/// What a commit survives. The file stays sound in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Every commit reaches the operating system: it survives the end of the process at any
    /// instant. A power cut may take what was written since the last [`Sessions::sync`]. The
    /// default, for waiting for the disk twice in every call costs ten times more than the rest.
    #[default]
    Kill,
    /// Every commit reaches the disk before it is over: it survives a power cut too.
    PowerCut,
}

/// Makes everything that is in the log of a store survive a power cut.
pub(super) fn sync_log(store: &Path) -> Result<(), SessionError> {
    let mut log = store.as_os_str().to_owned();
    log.push("-wal");
    Ok(disk::sync(Path::new(&log))?)
}

/// The store of sessions, as one thread uses it.
pub struct Sessions {
    pub(super) connection: Connection,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) call_log: Arc<CallLog>,
    /// How far the log of calls was taken over in the transaction that is open.
    taken_over: Cell<Option<Mark>>,
    durability: Durability,
    path: PathBuf,
    spread: Cell<u64>,
    folds: Cell<bool>,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Opens the store, making it or bringing its schema up to date where needed. Calls that a dead
    /// process left unfinished are marked as interrupted.
    pub fn open(path: &Path, clock: Arc<dyn Clock>, durability: Durability) -> Result<Self, SessionError> {
        Self::open_beside(path, clock, durability, Arc::new(CallLog::new(path)))
    }

    /// One of several connections of a process, which share what it says about calls.
    pub(super) fn open_beside(
        path: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
        call_log: Arc<CallLog>,
    ) -> Result<Self, SessionError> {
        if let Some(folder) = path.parent() {
            disk::make_private_folder(folder)?;
        }
        // Made by us first, so that it is private from its first byte; SQLite gives the files
        // beside it the same mode.
        disk::create_new(path, "")?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        connection.busy_timeout(Duration::ZERO)?;
        // What is committed is safe in the log, which SQLite folds into the file when it has grown. Doing
        // so whenever the last process leaves would make each of them wait for the disk four times.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let seed = Moment::from(clock.now()).micros().unsigned_abs() ^ (u64::from(std::process::id()) << 32);
        let store = Self {
            connection,
            clock,
            call_log,
            taken_over: Cell::new(None),
            durability,
            path: path.to_owned(),
            spread: Cell::new(seed | 1),
            folds: Cell::new(true),
        };
        store.prepare()?;
        store.bury_the_dead()?;
        Ok(store)
    }

    /// The same, but nothing is made: `None` where there is no store yet.
    pub fn open_existing(
        path: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
    ) -> Result<Option<Self>, SessionError> {
        if disk::is_file(path) { Self::open(path, clock, durability).map(Some) } else { Ok(None) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes everything committed so far survive a power cut. Meant for the end of a turn.
    pub fn sync(&self) -> Result<(), SessionError> {
        sync_log(&self.path)
    }

    /// Checks the whole file; the answer is what is wrong with it.
    pub fn check(&self) -> Result<Vec<String>, SessionError> {
        let found = self.read(|db| {
            let mut lines = db.prepare("PRAGMA integrity_check")?;
            let lines: Vec<String> = lines.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(lines)
        })?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// Whether a commit may fold the log into the file when it has grown, which waits for the disk.
    pub(super) fn let_fold(&self, may: bool) -> Result<(), SessionError> {
        if self.folds.replace(may) != may {
            let pages = if may { FOLD_PAGES } else { 0 };
            // It answers with what was set.
            self.connection.query_row(&format!("PRAGMA wal_autocheckpoint = {pages}"), [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Now, as the store writes it.
    pub fn now(&self) -> Moment {
        self.clock.now().into()
    }

    /// What a commit survives.
    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    fn prepare(&self) -> Result<(), SessionError> {
        let synchronous = match self.durability {
            Durability::PowerCut => "FULL",
            Durability::Kill => "NORMAL",
        };
        let settings = format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON; PRAGMA cache_size = -{CACHE_KB}; \
             PRAGMA wal_autocheckpoint = {FOLD_PAGES};"
        );
        // Even these have to wait while another process makes the file.
        self.patiently(|| {
            self.connection.execute_batch(&settings)?;
            let mode: String = self.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
            if mode != "wal" {
                self.connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            }
            Ok(())
        })?;
        schema::bring_up_to_date(self)
    }

    /// Changes the store: all of `work`, or nothing of it.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if !self.connection.is_autocommit() {
            return self.write_within(work);
        }
        self.begin()?;
        match work(&self.connection) {
            Ok(done) => self.commit().map(|()| done),
            Err(wrong) => {
                self.roll_back();
                Err(wrong)
            }
        }
    }

    /// Whether a transaction is open, so that what is written now may yet be taken back.
    pub(super) fn is_within(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Opens a transaction that several writes share.
    pub(super) fn begin(&self) -> Result<(), SessionError> {
        self.patiently(|| self.begin_at_once())
    }

    /// The same, unless another process has the write lock: then it is not waited for.
    pub(super) fn begin_at_once(&self) -> Result<(), SessionError> {
        self.say("BEGIN IMMEDIATE")?;
        // What was said before is there before anything that is written now.
        let taken = self.take_over_own();
        if taken.is_err() {
            self.roll_back();
        }
        self.taken_over.set(taken?);
        Ok(())
    }

    pub(super) fn commit(&self) -> Result<(), SessionError> {
        let done = self.patiently(|| self.say("COMMIT"));
        if done.is_err() {
            self.roll_back();
        } else if let Some(mark) = self.taken_over.take() {
            // A log that cannot be emptied is taken over again, which changes nothing.
            let _ = self.call_log.taken_over(mark);
        }
        done
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // What led here is the error to tell; a failed rollback ends with the connection.
            let _ = self.say("ROLLBACK");
        }
    }

    /// One write among others of the same transaction, undone alone when it fails.
    fn write_within<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        self.say("SAVEPOINT one")?;
        let done = work(&self.connection);
        if done.is_err() {
            self.say("ROLLBACK TO one")?;
        }
        self.say("RELEASE one")?;
        done
    }

    /// A statement about transactions. They are said more often than anything else, so they are kept ready.
    fn say(&self, statement: &str) -> Result<(), SessionError> {
        self.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
    }

    /// Looks at the store as it is at one moment. `look` may be tried again.
    pub(super) fn read<T>(
        &self,
        look: impl Fn(&Connection) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if !self.connection.is_autocommit() {
            return look(&self.connection);
        }
        self.patiently(|| {
            self.say("BEGIN DEFERRED")?;
            let seen = look(&self.connection);
            self.roll_back();
            seen
        })
    }

    /// Tries again while other processes keep the database busy.
    fn patiently<T>(&self, work: impl Fn() -> Result<T, SessionError>) -> Result<T, SessionError> {
        let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
        loop {
            match work() {
                Err(wrong) if wrong.is_busy() => {}
                end => return end,
            }
            if waited > PATIENCE {
                return Err(SessionError::Busy { path: self.path.clone() });
            }
            let time = pause.mul_f64(0.5 + self.chance());
            self.clock.pause(time);
            waited += time;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A number from 0 to 1 that differs between processes: it spreads their tries, nothing more.
    pub(super) fn chance(&self) -> f64 {
        let mut x = self.spread.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.spread.set(x);
        f64::from(u32::try_from(x >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}
