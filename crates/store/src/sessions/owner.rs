//! Who records calls: a process that can be seen to be alive.
//!
//! An owner holds the lock on a file named after its number for as long as its store is open. The
//! operating system gives the lock back when the process ends, however it ends; so a lock that can
//! be taken says that its owner is gone. Process ids would not do: they are used again, and mean
//! nothing across containers that share a folder.

use std::path::{Path, PathBuf};

use super::db::Sessions;
use super::error::SessionError;
use crate::disk::{self, Lock};

/// How many numbers are tried.
const MAX_TRIES: usize = 16;

/// This store's number, and its sign of life.
pub(super) struct Owner {
    pub(super) number: i64,
    file: PathBuf,
    _lock: Lock,
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A file that stays behind is removed by whoever next finds its owner gone.
        let _ = disk::remove(&self.file);
    }
}

impl Sessions {
    /// This store's number; it gets one when it first records a call.
    pub(super) fn owner(&self) -> Result<i64, SessionError> {
        if let Some(owner) = self.owner.get() {
            return Ok(owner.number);
        }
        for _ in 0..MAX_TRIES {
            // Time first, then chance: no other process has had this number, nor will have.
            #[expect(clippy::cast_possible_truncation, reason = "from 0 to 4095")]
            let number = (self.now().micros() << 12) | (self.chance() * 4095.0) as i64;
            let file = lock_file(self.path(), number);
            if let Some(lock) = disk::try_lock(&file)? {
                return Ok(self.owner.get_or_init(|| Owner { number, file, _lock: lock }).number);
            }
        }
        Err(SessionError::Busy { path: self.path().to_owned() })
    }

    /// Marks the calls that dead owners left unfinished.
    pub(super) fn mark_interrupted(&self) -> Result<(), SessionError> {
        let owners = self.read(|db| {
            let mut list = db.prepare("SELECT DISTINCT owner FROM calls WHERE state = 0")?;
            let list: Vec<i64> = list.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(list)
        })?;
        let own = self.owner.get().map(|owner| owner.number);
        for number in owners.into_iter().filter(|number| Some(*number) != own) {
            let file = lock_file(self.path(), number);
            // Held while the marks are written, so that two who find a dead owner take turns.
            let Some(_lock) = disk::try_lock(&file)? else { continue };
            let now = self.now();
            self.write(|db| {
                db.prepare_cached(
                    "UPDATE calls SET state = 2, ended_at = ?2 WHERE owner = ?1 AND state = 0",
                )?
                .execute((number, now))?;
                Ok(())
            })?;
            disk::remove(&file)?;
        }
        Ok(())
    }
}

/// `hermes.db-owners/7.lock`.
fn lock_file(database: &Path, number: i64) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push("-owners");
    database.with_file_name(name).join(format!("{number}.lock"))
}
