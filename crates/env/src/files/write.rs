//! Changing one file: its content as a whole or not at all, its name, its being there.
//!
//! New content is written beside the file and then takes its name, so that nobody ever sees half
//! of it. The file keeps its mode and owner. Where taking the name would lose something (other
//! names of the same file, an owner we may not set, a folder we may not write in), the content is
//! written into the file as it is, and put back should that fail.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, fchown};

use hermes_core::files::{Content, Expect, FileError, Stamp};

use super::spot::{Spot, stamp};
use super::whole::{mode, read_spot};

/// A file that was written, and still has to reach the disk.
pub(super) struct Written {
    pub(super) stamp: Stamp,
    pub(super) unsynced: Vec<File>,
}

/// Checks that what is at the name is what the caller thinks.
pub(super) fn check(spot: &Spot, expect: Expect) -> Result<Option<Metadata>, FileError> {
    let found = spot.look()?;
    match (expect, &found) {
        (Expect::Anything, _) | (Expect::Absent, None) => Ok(found),
        (Expect::Absent, Some(_)) => Err(FileError::Exists(spot.path.clone())),
        (Expect::Is(known), Some(metadata)) if stamp(metadata) == known => Ok(found),
        (Expect::Is(_), _) => Err(FileError::ChangedMeanwhile(spot.path.clone())),
    }
}

/// Puts content in place of what is at the name, or makes the file.
pub(super) fn put(spot: &Spot, content: &Content, expect: Expect) -> Result<Written, FileError> {
    let written = match check(spot, expect)? {
        None => create(spot, content),
        Some(old) if mode(&old) & 0o222 == 0 => Err(io::Error::other("it is read-only")),
        Some(old) if old.nlink() > 1 => return into(spot, &old, &content.bytes),
        Some(old) => match replace(spot, &old, &content.bytes) {
            Err(Replacing::WouldLose) => return into(spot, &old, &content.bytes),
            Err(Replacing::Failed(error)) => Err(error),
            Ok(file) => Ok(file),
        },
    };
    let file = written.map_err(|error| spot.unwritable(&error))?;
    finished(spot, file)
}

/// Why new content cannot take a file's name.
enum Replacing {
    /// It would have another owner, or may not stand beside it.
    WouldLose,
    Failed(io::Error),
}

fn create(spot: &Spot, content: &Content) -> io::Result<File> {
    let mut beside = spot.beside(0o666)?;
    beside.file.write_all(&content.bytes)?;
    if let Some(bits) = content.mode {
        beside.file.set_permissions(Permissions::from_mode(bits))?;
    }
    beside.create()?;
    beside.file.try_clone()
}

fn replace(spot: &Spot, old: &Metadata, bytes: &[u8]) -> Result<File, Replacing> {
    let mut beside = match spot.beside(0o600) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Replacing::WouldLose),
        made => made.map_err(Replacing::Failed)?,
    };
    let new = beside.file.metadata().map_err(Replacing::Failed)?;
    let same_owner = (new.uid(), new.gid()) == (old.uid(), old.gid());
    if !same_owner && fchown(&beside.file, Some(old.uid()), Some(old.gid())).is_err() {
        return Err(Replacing::WouldLose);
    }
    let mut take_place = || {
        beside.file.write_all(bytes)?;
        beside.file.set_permissions(Permissions::from_mode(mode(old)))?;
        beside.replace()?;
        beside.file.try_clone()
    };
    take_place().map_err(Replacing::Failed)
}

/// Writes into the file as it is, so that all its names and its owner stay.
fn into(spot: &Spot, old: &Metadata, bytes: &[u8]) -> Result<Written, FileError> {
    let before = read_spot(spot, u64::MAX)?;
    let failed = |error: io::Error| spot.unwritable(&error);
    let file = spot.write().map_err(failed)?;
    let now = file.metadata().map_err(failed)?;
    if (now.dev(), now.ino()) != (old.dev(), old.ino()) {
        return Err(FileError::ChangedMeanwhile(spot.path.clone()));
    }
    if let Err(error) = overwrite(&file, bytes) {
        return Err(match overwrite(&file, &before.bytes) {
            Ok(()) => failed(error),
            Err(again) => FileError::HalfDone {
                cause: Box::new(failed(error)),
                left: vec![format!("{} ({again})", spot.path.display())],
            },
        });
    }
    finished(spot, file)
}

fn overwrite(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)
}

fn finished(spot: &Spot, file: File) -> Result<Written, FileError> {
    let metadata = file.metadata().map_err(|error| spot.unwritable(&error))?;
    let mut unsynced = vec![file];
    unsynced.extend(spot.folder_to_sync().ok());
    Ok(Written { stamp: stamp(&metadata), unsynced })
}
