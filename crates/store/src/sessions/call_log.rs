//! The words about calls that are not in the database yet.
//!
//! A transaction for each of the two words about a call costs more than many a call. So a word is one line
//! at the end of a file that only this process writes to; it is with the operating system when that returns,
//! as a commit is. The lines are taken over into the database at the beginning of this process' next
//! transaction, whatever that is about, so that nothing is written there that came after them. Whoever asks
//! for calls takes the lines of all processes over first.
//!
//! Lines may be taken over twice, by two processes or because one was killed in between: their words are
//! the same, in the same order. A line that was cut off, or pieced together by reading while the file is
//! emptied, does not have the sum that it begins with and says nothing. The call that it was about did not
//! begin, or is not known to have ended.
//!
//! The file is locked for as long as its process lives, which is how it is seen to be alive, see `owner.rs`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hermes_core::digest::digest_bytes;
use serde_json::Error;

use super::calls::Word;
use super::error::SessionError;
use crate::disk::{self, Lock};
use crate::error::StoreError;

/// Most numbers tried for an owner.
const MAX_TRIES: usize = 16;

/// So much is left to wait for the next transaction; then it gets one of its own.
const MAX_LINES: usize = 512;
const MAX_BYTES: u64 = 1 << 20;

/// More than any log grows to.
const MAX_LOG: u64 = 1 << 32;

/// Hexadecimal digits of a sum, and the space behind.
const SUM: usize = 16;

/// Most words take no more than this.
const LINE: usize = 512;

/// This process' words, for all connections that it has to one database.
pub(super) struct CallLog {
    database: PathBuf,
    open: Mutex<Option<Open>>,
}

struct Open {
    owner: i64,
    file: PathBuf,
    lock: Lock,
    /// Where the next line goes.
    end: u64,
    /// Up to where it is in the database.
    taken: u64,
    /// Lines that wait.
    lines: usize,
    /// Somebody was told that much waits.
    told: bool,
    /// How often it was emptied.
    round: u64,
}

impl Open {
    fn waits(&self) -> u64 {
        self.end - self.taken
    }

    fn waits_much(&self) -> bool {
        self.lines >= MAX_LINES || self.waits() > MAX_BYTES
    }
}

/// How far a log was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    round: u64,
    end: u64,
    lines: usize,
}

impl CallLog {
    pub(super) fn new(database: &Path) -> Self {
        Self { database: database.to_owned(), open: Mutex::default() }
    }

    /// The number of this process, if it has one.
    pub(super) fn owner(&self) -> Option<i64> {
        self.open().as_ref().map(|open| open.owner)
    }

    /// The same; it gets one, and a file, if it has none. `number` gives numbers that nobody else has.
    pub(super) fn owner_or(&self, number: impl Fn() -> i64) -> Result<i64, SessionError> {
        let mut log = self.open();
        if let Some(open) = log.as_ref() {
            return Ok(open.owner);
        }
        for _ in 0..MAX_TRIES {
            let owner = number();
            let file = file(&self.database, owner);
            if let Some(lock) = disk::try_lock(&file)? {
                *log = Some(Open { owner, file, lock, end: 0, taken: 0, lines: 0, told: false, round: 0 });
                return Ok(owner);
            }
        }
        Err(SessionError::Busy { path: self.database.clone() })
    }

    /// Adds a word; it survives the end of the process when this returns. `None` if there is no file yet,
    /// otherwise whether so much waits that it should be taken over.
    pub(super) fn add(&self, word: &Word<'_>) -> Result<Option<bool>, SessionError> {
        let line = line(word)?;
        let mut log = self.open();
        let Some(open) = log.as_mut() else { return Ok(None) };
        // What a failed write has left behind is written over by the next.
        open.lock.write_at(&open.file, open.end, &line)?;
        open.end += line.len() as u64;
        open.lines += 1;
        // Told once, not for every word that comes until it is done.
        Ok(Some(open.waits_much() && !std::mem::replace(&mut open.told, true)))
    }

    /// What waits to be taken over, and how far that was read.
    pub(super) fn waiting(&self) -> Result<Option<(i64, Vec<u8>, Mark)>, SessionError> {
        let log = self.open();
        let Some(open) = log.as_ref().filter(|open| open.waits() > 0) else { return Ok(None) };
        let bytes = open.lock.read(&open.file, open.taken, open.waits())?;
        Ok(Some((open.owner, bytes, Mark { round: open.round, end: open.end, lines: open.lines })))
    }

    /// Whether so much waits that it should not wait for others.
    pub(super) fn is_long(&self) -> bool {
        self.open().as_ref().is_some_and(Open::waits_much)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.open().as_ref().is_some_and(|open| open.waits() > 0)
    }

    /// What was read up to there is in the database. Unless more has come since, the file begins anew.
    pub(super) fn taken_over(&self, mark: Mark) -> Result<(), SessionError> {
        let mut log = self.open();
        let Some(open) = log.as_mut().filter(|open| open.round == mark.round && open.taken < mark.end) else {
            return Ok(());
        };
        open.taken = mark.end;
        open.lines = open.lines.saturating_sub(mark.lines);
        open.told = open.waits_much();
        if open.waits() == 0 {
            open.lock.empty(&open.file)?;
            (open.end, open.taken) = (0, 0);
            open.round += 1;
        }
        Ok(())
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        // A file with words in it is taken over, and removed, by whoever next finds its owner gone. So is
        // one that cannot be removed.
        if let Some(open) = self.open().as_ref().filter(|open| open.waits() == 0) {
            let _ = disk::remove(&open.file);
        }
    }
}

/// Where an owner's words are: `hermes.db-owners/7.log`.
pub(super) fn file(database: &Path, owner: i64) -> PathBuf {
    folder(database).join(format!("{owner}.log"))
}

/// The owners that have a file.
pub(super) fn owners(database: &Path) -> Result<Vec<i64>, StoreError> {
    let owner = |path: PathBuf| path.file_name()?.to_str()?.strip_suffix(".log")?.parse().ok();
    Ok(disk::names(&folder(database))?.into_iter().filter_map(owner).collect())
}

fn folder(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push("-owners");
    database.with_file_name(name)
}

/// What an owner has written; nothing if its file is gone.
pub(super) fn read(database: &Path, owner: i64) -> Result<Vec<u8>, StoreError> {
    Ok(disk::read_bytes(&file(database, owner), MAX_LOG)?.unwrap_or_default())
}

/// A word as a line: a sum of it, which tells a whole line from a piece of one and guards nothing, the word, the end.
fn line(word: &Word<'_>) -> Result<Vec<u8>, Error> {
    let mut line = Vec::with_capacity(LINE);
    line.resize(SUM + 1, b' ');
    serde_json::to_writer(&mut line, word)?;
    let sum = digest_bytes(line.get(SUM + 1..).unwrap_or_default());
    write!(line.get_mut(..SUM).unwrap_or_default(), "{sum:016x}").map_err(Error::io)?;
    line.push(b'\n');
    Ok(line)
}

/// The words of a log, in order. What is not a whole line is left out.
pub(super) fn words(log: &[u8]) -> impl Iterator<Item = Word<'_>> {
    log.split_inclusive(|byte| *byte == b'\n').filter_map(|line| {
        let (sum, rest) = line.strip_suffix(b"\n")?.split_at_checked(SUM)?;
        let text = rest.strip_prefix(b" ")?;
        let told = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
        if told == digest_bytes(text) { serde_json::from_slice(text).ok() } else { None }
    })
}
