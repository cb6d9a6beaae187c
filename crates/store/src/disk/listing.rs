//! What is in a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::StoreError;

/// What a folder holds.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
}

/// What a name in a folder stands for; links are never followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Other,
}

/// Everything in a folder, or in one behind a link, by name alone. A missing one holds nothing.
pub(crate) fn names(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |source| StoreError::Io { doing: "list", path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|it| it.path()).map_err(failed)).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

/// What a listing tells of a name without looking at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    /// A folder itself.
    Folder,
    /// A link, or something that the listing does not tell.
    Unclear,
    /// Anything else.
    Other,
}

/// The same, and of each what the listing tells.
pub(crate) fn names_with_kind(folder: &Path) -> Result<Vec<(PathBuf, Listed)>, StoreError> {
    let failed = |source| StoreError::Io { doing: "list", path: folder.to_owned(), source };
    let kind = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => Listed::Folder,
        Ok(kind) if kind.is_file() => Listed::Other,
        _ => Listed::Unclear,
    };
    let one = |entry: fs::DirEntry| (entry.path(), kind(&entry));
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(one).map_err(failed)).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

/// What a folder holds, oldest first, then by name. A folder that is not there, or is a link, holds nothing.
pub(crate) fn list(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let failed = |source| StoreError::Io { doing: "list", path: folder.to_owned(), source };
    match fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Ok(Vec::new()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Gone between listing and asking: somebody else tidied up.
        let Ok(meta) = entry.metadata() else { continue };
        let kind = if meta.is_file() {
            Kind::File
        } else if meta.is_dir() {
            Kind::Folder
        } else {
            Kind::Other
        };
        let modified = meta.modified().map_err(failed)?;
        entries.push(Entry { path: entry.path(), kind, bytes: meta.len(), modified });
    }
    entries.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    Ok(entries)
}
