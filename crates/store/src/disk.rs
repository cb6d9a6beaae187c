//! The one place where files are opened, written, renamed and removed.
//!
//! Promises kept here: a read is bounded and only of regular files; a write is whole or not at
//! all and keeps mode, owner and links; folders are made private; a wait for a lock ends.

#![expect(clippy::disallowed_methods, reason = "the door to the state folder")]

mod listing;
mod locks;
mod parts;
mod stamps;

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::error::StoreError;

pub(crate) use listing::{Kind, Listed, list, names, names_with_kind};
pub(crate) use locks::{Lock, lock, try_lock, try_lock_beside};
pub(crate) use parts::Parts;
pub use stamps::Stamp;
use stamps::stamp_of;
pub(crate) use stamps::{Below, any_stamp, stamp, whole};

/// Most links followed from a name to the file behind it.
const MAX_LINKS: usize = 40;

/// The mode a written file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// 0600, enforced: a looser existing file is tightened.
    Private,
    /// 0600 for a new file, as all in a home is its owner's; an existing file keeps what it has.
    Keep,
}

/// The text of a file, `None` if there is none, an error if it is too large or not text.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<String>, StoreError> {
    Ok(read_stamped(path, limit)?.map(|(text, _)| text))
}

/// The same, with the stamp that the file had before it was read.
pub(crate) fn read_stamped(path: &Path, limit: u64) -> Result<Option<(String, Stamp)>, StoreError> {
    let Some((bytes, stamp)) = read_bytes_stamped(path, limit)? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some((text, stamp))),
        Err(e) => Err(StoreError::NotText { path: path.to_owned(), offset: e.utf8_error().valid_up_to() }),
    }
}

/// The text that a file begins with, in at most so many bytes, with the stamp that it had before it was read; `None`
/// if there is none that can be read. A letter that is cut off at the end is left out.
pub(crate) fn read_beginning(path: &Path, bytes: u64) -> Option<(String, Stamp)> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut begins = Vec::with_capacity(usize::try_from(meta.len().min(bytes)).ok()?.saturating_add(1));
    File::open(path).and_then(|file| file.take(bytes).read_to_end(&mut begins)).ok()?;
    let text = String::from_utf8(begins).or_else(|wrong| {
        let cut = wrong.utf8_error().valid_up_to();
        let mut begins = wrong.into_bytes();
        begins.truncate(cut);
        String::from_utf8(begins)
    });
    Some((text.ok()?, stamp_of(&meta)))
}

/// The bytes of a file, `None` if there is none, an error if there are too many.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(read_bytes_stamped(path, limit)?.map(|(bytes, _)| bytes))
}

fn read_bytes_stamped(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Stamp)>, StoreError> {
    let failed = |source| StoreError::Io { doing: "read", path: path.to_owned(), source };
    // Asked before opening: opening a named pipe would wait for its other end.
    let meta = match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
        Ok(meta) if !meta.is_file() => {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
        }
        Ok(meta) => meta,
    };
    // Room for all of it and one byte more: it is read at once, and its end is seen without growing.
    let room = usize::try_from(meta.len().min(limit)).unwrap_or_default().saturating_add(1);
    let mut bytes = Vec::with_capacity(room);
    File::open(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(Some((bytes, stamp_of(&meta))))
}

/// The SHA-256 of a file, read piece by piece; `None` if there is none, an error if it is too large.
pub(crate) fn sha256(path: &Path, limit: u64) -> Result<Option<[u8; 32]>, StoreError> {
    let failed = |source| StoreError::Io { doing: "read", path: path.to_owned(), source };
    // Asked before opening: opening a named pipe would wait for its other end.
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
        Ok(meta) if !meta.is_file() => {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
        }
        Ok(_) => {}
    }
    let mut file = File::open(path).map_err(failed)?.take(limit.saturating_add(1));
    let (mut sum, mut piece, mut length) = (Sha256::new(), vec![0_u8; 256 * 1024], 0_u64);
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(e)),
        };
        length += count as u64;
        sum.update(piece.get(..count).unwrap_or_default());
    }
    if length > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(Some(sum.finalize().into()))
}

/// Adds to the end of a file that only its owner reads; a planted link is not followed.
pub(crate) fn append(path: &Path, text: &str) -> Result<(), StoreError> {
    if path.is_symlink() {
        return Err(StoreError::Link { path: path.to_owned() });
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|source| StoreError::Io {
        doing: "write",
        path: path.to_owned(),
        source,
    })
}

/// Whether group or others may read a file.
pub(crate) fn open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o044 != 0)
}

/// How large a regular file is; `None` if there is none.
pub(crate) fn size(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| meta.len())
}

/// Whether anything is there, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Where a link leads; `None` for anything else.
pub(crate) fn link(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// When a regular file was last changed; `None` if there is none.
pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

/// Replaces a file by `text`, whole or not at all. A link stays a link: the file behind it is replaced.
pub(crate) fn write(path: &Path, text: &str, mode: Mode) -> Result<(), StoreError> {
    write_stamped(path, text, mode).map(drop)
}

/// The same; what the written file is now. Whoever replaces it a moment later has another one.
pub(crate) fn write_stamped(path: &Path, text: &str, mode: Mode) -> Result<Stamp, StoreError> {
    let target = behind_links(path)?;
    let failed = |source| StoreError::Io { doing: "write", path: target.clone(), source };
    let folder = target.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    make_private_folder(folder)?;

    let old = match fs::metadata(&target) {
        Ok(meta) => Some(meta),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed(e)),
    };
    // Renaming over a read-only file would succeed; its owner meant it to be left alone.
    if old.as_ref().is_some_and(|meta| meta.permissions().readonly()) {
        return Err(failed(io::ErrorKind::PermissionDenied.into()));
    }
    let bits = match (mode, &old) {
        (Mode::Private, _) | (Mode::Keep, None) => 0o600,
        (Mode::Keep, Some(meta)) => meta.mode() & 0o7777,
    };
    let mut temp =
        tempfile::Builder::new().prefix(".hermes-").suffix(".tmp").tempfile_in(folder).map_err(failed)?;
    temp.write_all(text.as_bytes()).map_err(failed)?;
    if let Some(meta) = &old {
        // Only root may give a file away; for anybody else the owner is already right.
        let _ = fchown(temp.as_file(), Some(meta.uid()), Some(meta.gid()));
    }
    temp.as_file().set_permissions(Permissions::from_mode(bits)).map_err(failed)?;
    temp.as_file().sync_all().map_err(failed)?;
    let file = temp.persist(&target).map_err(|e| failed(e.error))?;
    // The rename is durable once the folder is.
    File::open(folder).and_then(|f| f.sync_all()).map_err(failed)?;
    file.metadata().map(|meta| stamp_of(&meta)).map_err(failed)
}

/// Replaces a file that can be made again: whole for whoever reads it, but perhaps not there, or not whole,
/// after a power cut.
pub(crate) fn write_lightly(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { doing: "write", path: path.to_owned(), source };
    let folder = path.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let mut temp =
        tempfile::Builder::new().prefix(".hermes-").suffix(".tmp").tempfile_in(folder).map_err(failed)?;
    temp.write_all(bytes).map_err(failed)?;
    temp.persist(path).map(drop).map_err(|e| failed(e.error))
}

/// Writes a file that must not exist yet, readable by its owner only. `false` if the name is taken,
/// by a file or by a link, which is then left alone.
pub(crate) fn create_new(path: &Path, content: impl AsRef<[u8]>) -> Result<bool, StoreError> {
    let failed = |source| StoreError::Io { doing: "create", path: path.to_owned(), source };
    let Some(mut file) = open_new(path)? else { return Ok(false) };
    if let Err(e) = file.write_all(content.as_ref()) {
        // A half-written result is worse than none.
        let _ = fs::remove_file(path);
        return Err(failed(e));
    }
    Ok(true)
}

/// Opens a file that must not exist yet, readable by its owner only. Nothing if the name is taken.
pub(crate) fn open_new(path: &Path) -> Result<Option<File>, StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(source) => Err(StoreError::Io { doing: "create", path: path.to_owned(), source }),
    }
}

/// Makes a folder and its missing parents, each readable by its owner only. Existing ones stay as they are.
pub(crate) fn make_private_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| StoreError::Io {
        doing: "create folder",
        path: path.to_owned(),
        source,
    })
}

/// Makes one folder of ours and insists that it is a real folder, not a link, and private.
pub(crate) fn own_folder(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { doing: "create folder", path: path.to_owned(), source };
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(failed(e)),
    }
    let meta = fs::symlink_metadata(path).map_err(failed)?;
    if meta.file_type().is_symlink() {
        return Err(StoreError::Link { path: path.to_owned() });
    }
    if !meta.is_dir() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    if meta.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// Where a folder really is; as it was given when that cannot be told.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether two paths lead to the same thing.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    one == other || place(one).is_some_and(|it| place(other) == Some(it))
}

/// Whether `path` is a folder, or a link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Brings what was written to a file to the disk. A missing file has nothing to bring.
pub(crate) fn sync(path: &Path) -> Result<(), StoreError> {
    match File::open(path).and_then(|file| file.sync_data()) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::Io { doing: "write to disk", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Whether `path` is a regular file, or a link to one.
pub(crate) fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Removes a file or a link (not what it points to). A missing one is fine.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::Io { doing: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Removes a folder if it is empty; says whether it did.
pub(crate) fn remove_if_empty(folder: &Path) -> bool {
    fs::remove_dir(folder).is_ok()
}

/// The file a chain of links ends at, whether or not it exists.
fn behind_links(path: &Path) -> Result<PathBuf, StoreError> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new("/")).join(next),
            // Not a link, or not there yet.
            Err(_) => return Ok(at),
        }
    }
    let source = io::Error::other("too many symbolic links");
    Err(StoreError::Io { doing: "follow links of", path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn an_absent_file_reads_as_nothing_and_a_folder_as_an_error() {
        let dir = tempfile::tempdir().unwrap();

        assert_eq!(read(&dir.path().join("none"), 10).unwrap(), None);
        assert!(matches!(read(dir.path(), 10), Err(StoreError::Io { .. })));
    }

    #[test]
    fn a_read_is_bounded_and_must_be_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "12345").unwrap();

        assert_eq!(read(&path, 5).unwrap().as_deref(), Some("12345"));
        assert!(matches!(read(&path, 4), Err(StoreError::TooLarge { limit: 4, .. })));
        fs::write(&path, b"ab\xff").unwrap();
        assert!(matches!(read(&path, 9), Err(StoreError::NotText { offset: 2, .. })));
    }

    #[test]
    fn a_write_makes_private_folders_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/deep/f");

        write(&path, "x", Mode::Keep).unwrap();

        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&dir.path().join("home")), 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_write_keeps_an_unusual_mode_but_tightens_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();

        write(&path, "new", Mode::Keep).unwrap();
        assert_eq!(mode(&path), 0o664);

        write(&path, "new", Mode::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_stays_a_link_and_its_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let dots = dir.path().join("dots");
        fs::create_dir(&dots).unwrap();
        fs::write(dots.join("real"), "old").unwrap();
        let link = dir.path().join("link");
        symlink("dots/real", &link).unwrap();

        write(&link, "new", Mode::Keep).unwrap();

        assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        assert_eq!(fs::read_to_string(dots.join("real")).unwrap(), "new");
    }

    #[test]
    fn a_dangling_link_gets_its_file_and_a_loop_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("later/real", &link).unwrap();

        write(&link, "new", Mode::Keep).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("later/real")).unwrap(), "new");

        let ring = dir.path().join("ring");
        symlink("ring", &ring).unwrap();
        assert!(matches!(write(&ring, "x", Mode::Keep), Err(StoreError::Io { .. })));
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();

        assert!(write(&path, "new", Mode::Keep).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}
