//! A private folder for what shells leave behind, gone when its owner is.
//!
//! In memory where the machine has such a place: it is written and read once per command.

#![expect(clippy::disallowed_methods, reason = "the private folder of this environment")]

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hermes_core::jobs::JobFolders;

use crate::shell::owner;

/// Most that is read of what one shell left.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Room for what a shell usually leaves.
const USUAL_FILE: usize = 16 * 1024;

/// The folder. It is removed with its files when the last user is gone.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    given: AtomicU64,
}

/// A file of the folder, removed when nobody needs it any more.
#[derive(Debug)]
pub(crate) struct TempFile {
    path: PathBuf,
    /// The folder must outlive its files.
    _folder: Arc<Folder>,
}

impl Folder {
    /// Makes it in the first of these places that can hold it.
    pub(crate) fn make(places: &[PathBuf]) -> io::Result<Arc<Self>> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for place in places {
            let path = place.join(owner::name());
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Arc::new(Self { path, given: AtomicU64::new(0) })),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A name nobody else uses; the file does not exist yet.
    pub(crate) fn file(self: &Arc<Self>) -> TempFile {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        TempFile { path: self.path.join(number.to_string()), _folder: Arc::clone(self) }
    }
}

/// A folder in the folder, removed with everything in it when nobody needs it any more.
#[derive(Debug)]
pub(crate) struct TempFolder {
    path: PathBuf,
    /// The folder around it must outlive it.
    _folder: Arc<Folder>,
}

impl TempFolder {
    /// A new one that nobody else can look into.
    pub(crate) fn make(folder: &Arc<Folder>) -> io::Result<Self> {
        let number = folder.given.fetch_add(1, Ordering::Relaxed);
        let path = folder.path.join(number.to_string());
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path, _folder: Arc::clone(folder) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a file into it.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl JobFolders for Folder {
    fn make(&self, id: &str) -> Result<PathBuf, String> {
        let path = self.path.join(id);
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| error.to_string())?;
        Ok(path)
    }

    fn all(&self) -> Vec<(String, PathBuf)> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        folders.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect()
    }

    fn remove(&self, id: &str) {
        let _ = fs::remove_dir_all(self.path.join(id));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl TempFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it; nothing when it was never written.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        use std::io::Read as _;
        let mut bytes = Vec::with_capacity(USUAL_FILE);
        fs::File::open(&self.path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?.write_all(bytes)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
