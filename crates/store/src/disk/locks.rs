//! Locks: files that a process holds, and that the system gives back when it ends. A wait for one ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::make_private_folder;
use crate::error::StoreError;

/// How often, and how long apart, a taken lock is tried: 10 seconds in all.
const LOCK_TRIES: u32 = 500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Holds a lock file until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// The file that is locked can be written to by its holder. `path` is its name, for errors.
impl Lock {
    /// Writes at a place in it.
    pub(crate) fn write_at(&self, path: &Path, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io { doing: "write", path: path.to_owned(), source };
        self.file.write_all_at(bytes, at).map_err(failed)
    }

    /// So many bytes of it from a place on.
    pub(crate) fn read(&self, path: &Path, at: u64, count: u64) -> Result<Vec<u8>, StoreError> {
        let failed = |source| StoreError::Io { doing: "read", path: path.to_owned(), source };
        let mut bytes = vec![0; usize::try_from(count).unwrap_or_default()];
        self.file.read_exact_at(&mut bytes, at).map_err(failed)?;
        Ok(bytes)
    }

    /// Leaves nothing in it.
    pub(crate) fn empty(&self, path: &Path) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io { doing: "empty", path: path.to_owned(), source };
        self.file.set_len(0).map_err(failed)
    }
}

/// Takes the lock beside `path`, waiting a bounded time for another writer.
pub(crate) fn lock(path: &Path) -> Result<Lock, StoreError> {
    let lock = beside(path);
    let failed = |source| StoreError::Io { doing: "lock", path: lock.clone(), source };
    if let Some(folder) = lock.parent() {
        make_private_folder(folder)?;
    }
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&lock)
        .map_err(failed)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { file }),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
    }
    Err(StoreError::Locked { path: lock })
}

/// Takes the lock beside `path` without waiting; nothing when somebody holds it.
pub(crate) fn try_lock_beside(path: &Path) -> Result<Option<Lock>, StoreError> {
    try_lock(&beside(path))
}

/// The file that is locked for `path`.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}.lock", name.trim_start_matches('.')))
}

/// Takes the lock on the file itself, made if it is not there, without waiting; nothing when somebody
/// else holds it.
pub(crate) fn try_lock(path: &Path) -> Result<Option<Lock>, StoreError> {
    let failed = |source| StoreError::Io { doing: "lock", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let mut open = OpenOptions::new();
    let file =
        open.create(true).truncate(false).read(true).write(true).mode(0o600).open(path).map_err(failed)?;
    match file.try_lock() {
        // A file that its last holder has removed since it was opened locks nothing any more.
        Ok(()) => Ok(is_at(&file, path).then_some(Lock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

/// Whether an open file is the one with this name.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".env");

        let held = lock(&path).unwrap();
        let other = OpenOptions::new().write(true).open(dir.path().join(".env.lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));

        drop(held);
        assert!(other.try_lock().is_ok());
    }
}
