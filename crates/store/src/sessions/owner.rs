//! Who records calls: a process that can be seen to be alive.
//!
//! An owner holds the lock on its log of calls, see `call_log.rs`, for as long as its store is open. The
//! operating system gives the lock back when the process ends, however it ends; so a lock that can
//! be taken says that its owner is gone. Process ids would not do: they are used again, and mean
//! nothing across containers that share a folder.

use std::collections::BTreeSet;

use super::call_log::{self, Mark};
use super::calls;
use super::db::Sessions;
use super::error::SessionError;
use crate::disk;

impl Sessions {
    /// This process' number; it gets one when it first records a call.
    pub(super) fn owner(&self) -> Result<i64, SessionError> {
        // Time first, then chance: no other process has had this number, nor will have.
        #[expect(clippy::cast_possible_truncation, reason = "from 0 to 4095")]
        self.call_log.owner_or(|| (self.now().micros() << 12) | (self.chance() * 4095.0) as i64)
    }

    /// Takes over what this process has said about calls, in the transaction that is open. The log that is
    /// told when that was committed begins anew.
    pub(super) fn take_over_own(&self) -> Result<Option<Mark>, SessionError> {
        let Some((owner, log, mark)) = self.call_log.waiting()? else { return Ok(None) };
        calls::put(&self.connection, owner, call_log::words(&log))?;
        Ok(Some(mark))
    }

    /// Takes over what any process has said about calls.
    pub(super) fn catch_up(&self) -> Result<(), SessionError> {
        if self.call_log.is_waiting() {
            // Every transaction begins with it. Within one, which may yet be taken back, the log stays.
            let within = self.is_within();
            self.write(|_| if within { self.take_over_own().map(drop) } else { Ok(()) })?;
        }
        self.bury_the_dead()?;
        for owner in self.others()? {
            let log = call_log::read(self.path(), owner)?;
            if !log.is_empty() {
                self.write(|db| calls::put(db, owner, call_log::words(&log)))?;
            }
        }
        Ok(())
    }

    /// Takes over what dead owners have said, and marks the calls that they left unfinished.
    pub(super) fn bury_the_dead(&self) -> Result<(), SessionError> {
        let mut owners = self.others()?;
        owners.extend(self.read(|db| {
            let mut list = db.prepare_cached("SELECT DISTINCT owner FROM calls WHERE state = 0")?;
            let list: Vec<i64> = list.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(list)
        })?);
        let own = self.call_log.owner();
        for owner in owners.into_iter().filter(|owner| Some(*owner) != own) {
            let file = call_log::file(self.path(), owner);
            // Held while its words are taken over, so that two who find a dead owner take turns.
            let Some(_lock) = disk::try_lock(&file)? else { continue };
            let log = call_log::read(self.path(), owner)?;
            let now = self.now();
            self.write(|db| {
                calls::put(db, owner, call_log::words(&log))?;
                db.prepare_cached(
                    "UPDATE calls SET state = 2, ended_at = ?2 WHERE owner = ?1 AND state = 0",
                )?
                .execute((owner, now))?;
                Ok(())
            })?;
            // What is not committed yet is taken over once more by whoever comes next.
            if !self.is_within() {
                disk::remove(&file)?;
            }
        }
        Ok(())
    }

    /// The other owners that have a log.
    fn others(&self) -> Result<BTreeSet<i64>, SessionError> {
        let own = self.call_log.owner();
        Ok(call_log::owners(self.path())?.into_iter().filter(|owner| Some(*owner) != own).collect())
    }
}
