//! One connection to the boards: opening, transactions, and what is due by now.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::kanban::{DEFAULT_BOARD, KanbanError};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::claims;
use crate::disk;
use crate::error::StoreError;
use crate::home::Home;
use crate::sessions::{Clock, Moment};

/// How long a busy database is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often, and how long apart, opening is tried while another process makes the file.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(20);

/// The steps from nothing to the schema of today. A step is never edited after a release.
const STEPS: [&str; 1] = [include_str!("1.sql")];

/// Why something did not work, inside this room.
#[derive(Debug)]
pub(super) enum Wrong {
    Refused(KanbanError),
    Database(rusqlite::Error),
    Store(StoreError),
}

impl From<KanbanError> for Wrong {
    fn from(why: KanbanError) -> Self {
        Self::Refused(why)
    }
}

impl From<rusqlite::Error> for Wrong {
    fn from(why: rusqlite::Error) -> Self {
        Self::Database(why)
    }
}

impl From<StoreError> for Wrong {
    fn from(why: StoreError) -> Self {
        Self::Store(why)
    }
}

impl From<Wrong> for KanbanError {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Refused(why) => why,
            Wrong::Database(why) => Self::Store(format!("the task board failed: {why}")),
            Wrong::Store(why) => Self::Store(why.to_string()),
        }
    }
}

/// The boards of a home, as one thread uses them.
pub struct Boards {
    connection: Connection,
    clock: Arc<dyn Clock>,
    folder: PathBuf,
}

impl std::fmt::Debug for Boards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boards").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The database within a transaction, at one moment.
pub(super) struct Tx<'a> {
    pub(super) db: &'a Connection,
    /// Microseconds since 1970.
    pub(super) now: i64,
    /// Where attachments are.
    pub(super) attachments: PathBuf,
}

impl Boards {
    /// Opens the boards that all profiles of a home share, and makes them where there are none.
    pub fn open(home: &Home, clock: Arc<dyn Clock>) -> Result<Self, KanbanError> {
        Ok(Self::open_in(&home.kanban(), clock)?)
    }

    fn open_in(folder: &Path, clock: Arc<dyn Clock>) -> Result<Self, Wrong> {
        disk::make_private_folder(folder)?;
        let path = folder.join("tasks.db");
        // Made by us first, so that it is private from its first byte.
        disk::create_new(&path, "")?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let boards = Self { connection, clock, folder: folder.to_owned() };
        boards.prepare()?;
        Ok(boards)
    }

    /// Settings and schema. Changing the journal does not wait by itself for others who do the same.
    fn prepare(&self) -> Result<(), Wrong> {
        for _ in 0..TRIES {
            match self.try_prepare() {
                Err(Wrong::Database(rusqlite::Error::SqliteFailure(failure, _)))
                    if matches!(failure.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) =>
                {
                    self.clock.pause(PAUSE);
                }
                end => return end,
            }
        }
        self.try_prepare()
    }

    fn try_prepare(&self) -> Result<(), Wrong> {
        self.connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
        self.connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        let version = |db: &Connection| db.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
        let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
        if version(&self.connection)? == known {
            return Ok(());
        }
        self.in_transaction("BEGIN IMMEDIATE", |tx| {
            // Another process may have taken the steps while this one waited.
            let found = version(tx.db)?;
            let Some(missing) = usize::try_from(found).ok().and_then(|found| STEPS.get(found..)) else {
                let why = format!("the task board has schema {found}, this program knows up to {known}");
                return Err(KanbanError::Store(why).into());
            };
            for step in missing {
                tx.db.execute_batch(step)?;
            }
            let made = "INSERT OR IGNORE INTO boards (name, created_at) VALUES (?1, ?2)";
            tx.db.execute(made, (DEFAULT_BOARD, tx.now))?;
            Ok(tx.db.pragma_update(None, "user_version", known)?)
        })
    }

    /// Where attachments are.
    pub(super) fn attachments_folder(&self) -> PathBuf {
        self.folder.join("attachments")
    }

    /// A name nobody else has thought of.
    pub(super) fn random_name(&self) -> Result<String, Wrong> {
        Ok(self.connection.query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))?)
    }

    /// Changes the boards: all of `work`, or nothing of it. Claims whose time is over end first, also
    /// when the work is refused.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T, Wrong>) -> Result<T, KanbanError> {
        let done = self.in_transaction("BEGIN IMMEDIATE", |tx| {
            claims::end_overdue(tx)?;
            tx.db.execute_batch("SAVEPOINT work")?;
            let done = work(tx);
            let end = if done.is_ok() { "RELEASE work" } else { "ROLLBACK TO work; RELEASE work" };
            tx.db.execute_batch(end)?;
            Ok(done)
        });
        Ok(done??)
    }

    /// Looks at the boards as they are at one moment, with no claim that is over.
    pub(super) fn read<T>(&self, look: impl FnOnce(&Tx<'_>) -> Result<T, Wrong>) -> Result<T, KanbanError> {
        let now = self.now();
        let due = "SELECT EXISTS (SELECT 1 FROM runs WHERE ended_at IS NULL AND expires_at <= ?1)";
        let due = self.connection.query_row(due, [now], |row| row.get::<_, bool>(0));
        if due.map_err(Wrong::from)? {
            self.write(|_| Ok(()))?;
        }
        Ok(self.in_transaction("BEGIN DEFERRED", look)?)
    }

    fn in_transaction<T>(
        &self,
        begin: &str,
        work: impl FnOnce(&Tx<'_>) -> Result<T, Wrong>,
    ) -> Result<T, Wrong> {
        self.connection.execute_batch(begin)?;
        let tx = Tx { db: &self.connection, now: self.now(), attachments: self.attachments_folder() };
        let done = work(&tx).and_then(|done| {
            self.connection.execute_batch("COMMIT")?;
            Ok(done)
        });
        if done.is_err() && !self.connection.is_autocommit() {
            // What led here is the error to tell; a failed rollback ends with the connection.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn now(&self) -> i64 {
        Moment::from(self.clock.now()).micros()
    }
}
