//! A file of which parts are read: what it was when it was opened is known, so that places in it that
//! were noted earlier can be trusted.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::{Stamp, stamp_of};
use crate::error::StoreError;

/// An open regular file.
#[derive(Debug)]
pub(crate) struct Parts {
    file: File,
    path: PathBuf,
    stamp: Stamp,
}

impl Parts {
    /// Opens a file, or one behind a link; nothing if there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let failed = |source| StoreError::Io { doing: "read", path: path.to_owned(), source };
        // Asked before opening: opening a named pipe would wait for its other end.
        match fs::metadata(path) {
            Err(wrong) if wrong.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(wrong) => return Err(failed(wrong)),
            Ok(meta) if !meta.is_file() => {
                return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
            }
            Ok(_) => {}
        }
        let file = match File::open(path) {
            Err(wrong) if wrong.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let stamp = stamp_of(&file.metadata().map_err(failed)?);
        Ok(Some(Self { file, path: path.to_owned(), stamp }))
    }

    /// What it was when it was opened.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether it is still the same: nobody has written into it since.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| stamp_of(&meta) == self.stamp)
    }

    /// All of it.
    pub(crate) fn text(&self, limit: u64) -> Result<String, StoreError> {
        let room = usize::try_from(self.stamp.bytes.min(limit)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(room + 1);
        let read = (&self.file).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| self.failed(source))?;
        if bytes.len() as u64 > limit {
            return Err(StoreError::TooLarge { path: self.path.clone(), limit });
        }
        String::from_utf8(bytes).map_err(|wrong| StoreError::NotText {
            path: self.path.clone(),
            offset: wrong.utf8_error().valid_up_to(),
        })
    }

    /// So many bytes of it, from `start` on.
    pub(crate) fn part(&self, start: u64, bytes: usize) -> Result<String, StoreError> {
        let mut part = vec![0; bytes];
        self.file.read_exact_at(&mut part, start).map_err(|source| self.failed(source))?;
        String::from_utf8(part).map_err(|_| self.failed(io::ErrorKind::InvalidData.into()))
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Io { doing: "read", path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_and_a_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(Parts::open(&path).unwrap().is_none());
        fs::write(&path, "one two").unwrap();

        let parts = Parts::open(&path).unwrap().unwrap();

        assert_eq!(
            (parts.part(4, 3).unwrap(), parts.text(7).unwrap()),
            ("two".to_owned(), "one two".to_owned())
        );
        assert!(parts.part(4, 4).is_err() && parts.is_unchanged());
        fs::write(&path, "longer than it was").unwrap();
        assert!(!parts.is_unchanged());
        assert!(matches!(Parts::open(&path).unwrap().unwrap().text(7), Err(StoreError::TooLarge { .. })));
        assert!(Parts::open(dir.path()).is_err());
    }
}
