//! A name in a folder that is held open, reached without following a single link.
//!
//! Policy judged a path with all its links followed. Whoever puts a link there afterwards gets an
//! error instead of a write somewhere else: every step is opened from the one before it and must
//! be a folder, and everything done to the last name is done through the open folder.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use hermes_core::files::{FileError, Stamp};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::open::{explain, unreadable};

/// Whether folders on the way are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Make,
    Leave,
}

/// A name in an open folder.
#[derive(Debug)]
pub(super) struct Spot {
    folder: OwnedFd,
    name: OsString,
    /// The whole path, for messages.
    pub(super) path: PathBuf,
    /// The folders that were made on the way, outermost first.
    pub(super) made: Vec<PathBuf>,
}

impl Spot {
    /// Walks to the folder of `path`, which has no links in it.
    pub(super) fn of(path: &Path, missing: Missing) -> Result<Self, FileError> {
        let failed = |errno: Errno| match errno {
            Errno::NOENT => explain(path, &io::ErrorKind::NotFound.into()),
            Errno::LOOP => FileError::ChangedMeanwhile(path.to_path_buf()),
            // A link in the middle of a path answers so too; a file in its place is more likely.
            Errno::NOTDIR if missing == Missing::Leave => explain(path, &io::ErrorKind::NotADirectory.into()),
            other => unwritable(path, &other.into()),
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::IsDirectory(path.to_path_buf()));
        };
        let mut folder = openat(CWD, "/", FOLDER, Mode::empty()).map_err(failed)?;
        let mut reached = PathBuf::from("/");
        let mut made = Vec::new();
        for step in parent.components() {
            let Component::Normal(step) = step else { continue };
            reached.push(step);
            folder = match openat(&folder, step, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if missing == Missing::Make => {
                    let new = make(&folder, step).map_err(failed)?;
                    made.push(reached.clone());
                    new
                }
                other => other.map_err(failed)?,
            };
        }
        Ok(Self { folder, name: name.to_os_string(), path: path.to_path_buf(), made })
    }

    /// What stands at the name now; a link or anything else that is no regular file is an error.
    pub(super) fn look(&self) -> Result<Option<Metadata>, FileError> {
        let found = match openat(&self.folder, &self.name, LOOK, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(FileError::ChangedMeanwhile(self.path.clone())),
            found => File::from(found.map_err(|errno| self.unwritable(&errno.into()))?),
        };
        let found = found.metadata().map_err(|error| self.unwritable(&error))?;
        match found.file_type() {
            kind if kind.is_symlink() => Err(FileError::ChangedMeanwhile(self.path.clone())),
            kind if kind.is_dir() => Err(FileError::IsDirectory(self.path.clone())),
            kind if !kind.is_file() => Err(FileError::NotRegular(self.path.clone())),
            _ => Ok(Some(found)),
        }
    }

    /// Opens the file at the name to read it.
    pub(super) fn read(&self) -> Result<File, FileError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match openat(&self.folder, &self.name, flags, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::NOENT) => Err(explain(&self.path, &io::ErrorKind::NotFound.into())),
            Err(Errno::LOOP) => Err(FileError::ChangedMeanwhile(self.path.clone())),
            Err(errno) => Err(unreadable(&self.path, &io::Error::from(errno).to_string())),
        }
    }

    /// Opens the file at the name to write into it as it is.
    pub(super) fn write(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?.into())
    }

    /// A new file of another name in the same folder.
    pub(super) fn beside(&self, mode: u32) -> io::Result<Beside<'_>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for attempt in 0..MOST_NAMES {
            let name = format!(".hermes-{}-{attempt}.tmp", std::process::id());
            match openat(&self.folder, name.as_str(), flags, Mode::from_raw_mode(mode)) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
                Ok(file) => return Ok(Beside { spot: self, name, file: file.into(), named: false }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the file at this name another one, which must be free.
    pub(super) fn rename(&self, to: &Self) -> io::Result<()> {
        Ok(into_free_name(&self.folder, self.name.as_os_str(), to)?)
    }

    /// Takes the name away.
    pub(super) fn unlink(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// The folder, open so that it can be written out to the disk.
    pub(super) fn folder_to_sync(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.folder, ".", flags, Mode::empty())?.into())
    }

    pub(super) fn unwritable(&self, error: &io::Error) -> FileError {
        match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(self.path.clone()),
            _ => unwritable(&self.path, error),
        }
    }
}

/// A file that waits beside a name to take its place; it is gone if it never does.
pub(super) struct Beside<'a> {
    spot: &'a Spot,
    name: String,
    pub(super) file: File,
    named: bool,
}

impl Beside<'_> {
    /// Takes the place of whatever has the name.
    pub(super) fn replace(&mut self) -> io::Result<()> {
        rustix::fs::renameat(
            &self.spot.folder,
            self.name.as_str(),
            &self.spot.folder,
            self.spot.name.as_os_str(),
        )?;
        self.named = true;
        Ok(())
    }

    /// Takes the name if nothing has it.
    pub(super) fn create(&mut self) -> io::Result<()> {
        into_free_name(&self.spot.folder, OsStr::new(&self.name), self.spot)?;
        self.named = true;
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.named {
            // Nothing can be done about a name that cannot be removed.
            let _ = unlinkat(&self.spot.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// What a file is known by.
pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let modified = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    Stamp { size: metadata.len(), modified, file: metadata.ino() }
}

/// An error with the system's words.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> FileError {
    FileError::Unwritable { path: path.to_path_buf(), reason: error.to_string() }
}

/// Names tried for a file that waits beside another.
const MOST_NAMES: u32 = 1000;

/// Looking at a folder on the way needs no permission to list it, where the system can do that.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Looking at a file must not open a device.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

fn make(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        // Somebody else made it just now.
        Err(Errno::EXIST) | Ok(()) => openat(folder, name, FOLDER, Mode::empty()),
        Err(errno) => Err(errno),
    }
}

/// Renames without replacing anything; where the file system cannot do both in one step, by a
/// second name for the file, which fails as well when the name is taken.
fn into_free_name(folder: &OwnedFd, name: &OsStr, to: &Spot) -> Result<(), Errno> {
    match renameat_with(folder, name, &to.folder, to.name.as_os_str(), RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(folder, name, &to.folder, to.name.as_os_str(), AtFlags::empty())?;
            unlinkat(folder, name, AtFlags::empty())
        }
        done => done,
    }
}
