//! One file of notes on disk: read, changed under a lock, copied aside when it is not ours any more.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_core::memory::{Applied, Change, MemoryError, Notes, Refused, Room};

use super::entries::Entries;
use crate::disk::{self, Kind, Mode};
use crate::error::StoreError;
use crate::sessions::Moment;

/// A file of notes is small; anything larger is something else.
const MAX_BYTES: u64 = 1024 * 1024;
/// The largest file that is copied aside.
const MAX_COPY: u64 = 64 * 1024 * 1024;
/// How many names are tried for a copy.
const MAX_TRIES: u32 = 100;

/// Where notes are, and how long they may be.
pub(super) struct NotesFile {
    path: PathBuf,
    name: &'static str,
    limit: usize,
}

impl NotesFile {
    pub(super) fn new(path: PathBuf, name: &'static str, limit: usize) -> Self {
        Self { path, name, limit }
    }

    /// What it says now.
    pub(super) fn notes(&self) -> Result<Notes, MemoryError> {
        let entries = self.read().map_err(MemoryError::from)?;
        Ok(Notes { room: self.room(&entries), entries: entries.shown() })
    }

    /// Makes all changes or none.
    pub(super) fn apply(&self, changes: &[Change], now: SystemTime) -> Result<Applied, Refused> {
        let _lock = disk::lock(&self.path).map_err(MemoryError::from)?;
        let before = match self.read() {
            Ok(entries) => entries,
            Err(StoreError::NotText { .. }) => return Err(self.drifted("is not text any more", now)?.into()),
            Err(StoreError::TooLarge { .. }) => return Err(self.drifted("is far too large", now)?.into()),
            Err(other) => return Err(MemoryError::from(other).into()),
        };
        let only_adds = changes.iter().all(|change| matches!(change, Change::Add(_)));
        if !only_adds && before.longest() > self.limit {
            let why = "holds a note that is longer than all notes together may be";
            return Err(self.drifted(why, now)?.into());
        }
        let (after, did) = before.changed(changes, self.limit)?;
        if after != before {
            disk::write(&self.path, &after.text(), Mode::Keep).map_err(MemoryError::from)?;
        }
        Ok(Applied { did, entries: after.len(), room: self.room(&after) })
    }

    /// Takes everything away, with a copy.
    pub(super) fn reset(&self, now: SystemTime) -> Result<Option<String>, MemoryError> {
        let _lock = disk::lock(&self.path).map_err(MemoryError::from)?;
        if disk::size(&self.path).is_none_or(|bytes| bytes == 0) {
            return Ok(None);
        }
        let copy = self.copy(now).map_err(MemoryError::from)?;
        disk::write(&self.path, "", Mode::Keep).map_err(MemoryError::from)?;
        Ok(Some(copy))
    }

    fn read(&self) -> Result<Entries, StoreError> {
        Ok(Entries::parse(&disk::read(&self.path, MAX_BYTES)?.unwrap_or_default()))
    }

    fn room(&self, entries: &Entries) -> Room {
        Room { used: entries.chars(), limit: self.limit }
    }

    fn drifted(&self, why: &str, now: SystemTime) -> Result<MemoryError, MemoryError> {
        let backup = self.copy(now).map_err(MemoryError::from)?;
        Ok(MemoryError::Drift { file: self.name.to_owned(), why: why.to_owned(), backup })
    }

    /// Copies the file beside itself, unless a copy of just this is there already; gives its name.
    fn copy(&self, now: SystemTime) -> Result<String, StoreError> {
        let bytes = disk::read_bytes(&self.path, MAX_COPY)?.unwrap_or_default();
        let prefix = format!("{}.bak.", self.name);
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        for known in disk::list(folder)?.into_iter().rev() {
            let name = known.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let alike =
                known.kind == Kind::File && name.starts_with(&prefix) && known.bytes == bytes.len() as u64;
            if alike && disk::read_bytes(&known.path, MAX_COPY)?.as_ref() == Some(&bytes) {
                return Ok(name);
            }
        }
        let stamp = Moment::from(now).stamp();
        for n in 1..=MAX_TRIES {
            let name = if n == 1 { format!("{prefix}{stamp}") } else { format!("{prefix}{stamp}-{n}") };
            let path = folder.join(&name);
            if disk::create_new(&path, &bytes)? {
                disk::sync(&path)?;
                return Ok(name);
            }
        }
        let source = std::io::ErrorKind::AlreadyExists.into();
        Err(StoreError::Io { doing: "find a free name for a copy of", path: self.path.clone(), source })
    }
}

impl From<StoreError> for MemoryError {
    fn from(wrong: StoreError) -> Self {
        Self::Store(wrong.to_string())
    }
}
