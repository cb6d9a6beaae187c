//! A folder whose content strangers may have written: nothing is read or written outside of it.
//!
//! Part of the door to the disk. Every step below the folder is taken with the folder in hand, and a
//! link is never followed, so that no name, and no link put there meanwhile, leads out of it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::error::StoreError;

/// How many names are tried for a file that is being written.
const MAX_TRIES: u32 = 100;

/// What the name of a file begins with that is being written.
const TEMPORARY: &str = ".hermes-";
/// Largest file that is copied.
const MAX_COPIED: u64 = 256 * 1024 * 1024;

/// A folder held open.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: OwnedFd,
    path: PathBuf,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// The name as it is on disk; the other one has signs in place of what is no text.
    raw: OsString,
    pub(crate) kind: ItemKind,
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
    /// Whether its owner may run it.
    pub(crate) runs: bool,
}

impl Item {
    /// Whether its name is text: only such a one leads to it again.
    pub(crate) fn is_text(&self) -> bool {
        self.raw.to_str().is_some()
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    File,
    Folder,
    /// A link, which is not followed.
    Link,
    Other,
}

impl Beneath {
    /// Opens a folder; nothing when there is none. The folder itself may be a link.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        match rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(root) => Ok(Some(Self { root, path: path.to_owned() })),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(wrong) => Err(failed("open", path, wrong)),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a file; nothing when there is none.
    pub(crate) fn read(&self, file: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let at = || self.path.join(file);
        let opened = self.parent(file, false).and_then(|(folder, name)| {
            // Without waiting: opening a named pipe would wait for its other end.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            rustix::fs::openat(&folder, name, flags, Mode::empty())
        });
        let opened = match opened {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(Errno::LOOP) => return Err(StoreError::Link { path: at() }),
            Err(wrong) => return Err(failed("read", &at(), wrong)),
        };
        let stat = rustix::fs::fstat(&opened).map_err(|wrong| failed("read", &at(), wrong))?;
        if kind(&stat) != ItemKind::File {
            return Err(failed("read", &at(), Errno::INVAL));
        }
        let mut bytes = Vec::new();
        File::from(opened)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| StoreError::Io { doing: "read", path: at(), source })?;
        if bytes.len() as u64 > limit {
            return Err(StoreError::TooLarge { path: at(), limit });
        }
        Ok(Some(bytes))
    }

    /// The text of a file; nothing when there is none.
    pub(crate) fn text(&self, file: &Path, limit: u64) -> Result<Option<String>, StoreError> {
        let Some(bytes) = self.read(file, limit)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|wrong| StoreError::NotText {
            path: self.path.join(file),
            offset: wrong.utf8_error().valid_up_to(),
        })
    }

    /// What a folder below holds, by name; a folder that is not there holds nothing.
    pub(crate) fn list(&self, folder: &Path) -> Result<Vec<Item>, StoreError> {
        let at = || self.path.join(folder);
        let opened = match self.folder(folder, false) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
            Err(wrong) => return Err(failed("list", &at(), wrong)),
        };
        let mut items = Vec::new();
        for entry in Dir::read_from(&opened).map_err(|wrong| failed("list", &at(), wrong))? {
            let entry = entry.map_err(|wrong| failed("list", &at(), wrong))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            // Gone between listing and asking: somebody else tidied up.
            let Ok(stat) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            items.push(item(name, &stat));
        }
        items.sort_by(|one, other| one.raw.cmp(&other.raw));
        Ok(items)
    }

    /// What a name stands for; nothing when there is none.
    pub(crate) fn look(&self, path: &Path) -> Option<Item> {
        let (folder, name) = self.parent(path, false).ok()?;
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(item(name, &stat))
    }

    /// Writes a file, whole or not at all; folders on the way to it are made. A file that is there
    /// keeps its mode, a new one is its owner's alone.
    pub(crate) fn write(&self, file: &Path, content: &[u8], runs: bool) -> Result<(), StoreError> {
        let written = self.parent(file, true).map_err(io::Error::from).and_then(|(folder, name)| {
            let old = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            if old.as_ref().is_some_and(|old| kind(old) != ItemKind::File) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            let bits =
                old.map_or(if runs { 0o700 } else { 0o600 }, |old| Mode::from_raw_mode(old.st_mode).bits());
            let (temporary, new) = temporary(&folder)?;
            let mut new = File::from(new);
            let done = new
                .write_all(content)
                .and_then(|()| Ok(rustix::fs::fchmod(&new, Mode::from_bits_truncate(bits))?))
                .and_then(|()| new.sync_all())
                .and_then(|()| Ok(rustix::fs::renameat(&folder, &temporary, &folder, name)?));
            if let Err(wrong) = done {
                // A half-written file is worse than none.
                let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
                return Err(wrong);
            }
            // The rename is durable once the folder is.
            Ok(rustix::fs::fsync(&folder)?)
        });
        written.map_err(|source| StoreError::Io { doing: "write", path: self.path.join(file), source })
    }

    /// Removes a file or a link, not what it points to; says whether there was one.
    pub(crate) fn remove(&self, file: &Path) -> Result<bool, StoreError> {
        let removed = self
            .parent(file, false)
            .and_then(|(folder, name)| rustix::fs::unlinkat(&folder, name, AtFlags::empty()));
        match removed {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(wrong) => Err(failed("remove", &self.path.join(file), wrong)),
        }
    }

    /// Removes a folder if it is empty; says whether it did.
    pub(crate) fn remove_if_empty(&self, folder: &Path) -> bool {
        self.parent(folder, false)
            .and_then(|(above, name)| rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR))
            .is_ok()
    }

    /// Removes a folder with everything in it. Links go, what they point to stays.
    pub(crate) fn remove_all(&self, folder: &Path) -> Result<(), StoreError> {
        for item in self.list(folder)? {
            let below = folder.join(&item.raw);
            match item.kind {
                ItemKind::Folder => self.remove_all(&below)?,
                _ => drop(self.remove(&below)?),
            }
        }
        self.remove_if_empty(folder);
        Ok(())
    }

    /// Gives a file or folder another name, which must be free; folders on the way to it are made.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let moved = self.parent(from, false).and_then(|(old, name)| {
            let (new, new_name) = self.parent(to, true)?;
            rustix::fs::renameat_with(&old, name, &new, new_name, RenameFlags::NOREPLACE)
        });
        moved.map_err(|wrong| failed("rename", &self.path.join(from), wrong))
    }

    /// Lets two files or folders have each other's names, at one instant; `false` where the disk cannot do that.
    pub(crate) fn exchange(&self, one: &Path, other: &Path) -> Result<bool, StoreError> {
        let done = self.parent(one, false).and_then(|(folder, name)| {
            let (other_folder, other_name) = self.parent(other, false)?;
            rustix::fs::renameat_with(&folder, name, &other_folder, other_name, RenameFlags::EXCHANGE)
        });
        match done {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(wrong) => Err(failed("rename", &self.path.join(one), wrong)),
        }
    }

    /// Copies a folder with everything in it to a name that is free; links stay links. What was copied until
    /// something went wrong is removed.
    pub(crate) fn copy(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        if self.look(to).is_some() {
            return Err(failed("write", &self.path.join(to), Errno::EXIST));
        }
        let done = self.copy_items(from, to);
        if done.is_err() {
            // What is left of it is in nobody's way.
            let _ = self.remove_all(to);
        }
        done
    }

    fn copy_items(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let wrong = |path: &Path, wrong| failed("copy", &self.path.join(path), wrong);
        self.folder(to, true).map_err(|why| wrong(to, why))?;
        for item in self.list(from)? {
            let (old, new) = (from.join(&item.raw), to.join(&item.raw));
            match item.kind {
                ItemKind::Folder => self.copy_items(&old, &new)?,
                ItemKind::File => {
                    let bytes = self.read(&old, MAX_COPIED)?.unwrap_or_default();
                    self.write(&new, &bytes, item.runs)?;
                }
                ItemKind::Link => self.copy_link(&old, &new).map_err(|why| wrong(&old, why))?,
                ItemKind::Other => return Err(wrong(&old, Errno::INVAL)),
            }
        }
        Ok(())
    }

    fn copy_link(&self, from: &Path, to: &Path) -> Result<(), Errno> {
        let (folder, name) = self.parent(from, false)?;
        let leads_to = rustix::fs::readlinkat(&folder, name, Vec::new())?;
        let (folder, name) = self.parent(to, true)?;
        rustix::fs::symlinkat(leads_to, &folder, name)
    }

    /// Opens the folder that a path's last name is in.
    fn parent<'p>(&self, path: &'p Path, make: bool) -> Result<(OwnedFd, &'p OsStr), Errno> {
        let Some(Component::Normal(name)) = path.components().next_back() else { return Err(Errno::INVAL) };
        let above = path.parent().unwrap_or(Path::new(""));
        Ok((self.folder(above, make)?, name))
    }

    /// Opens a folder below, step by step.
    fn folder(&self, path: &Path, make: bool) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = rustix::io::fcntl_dupfd_cloexec(&self.root, 0)?;
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            at = match rustix::fs::openat(&at, name, flags, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    match rustix::fs::mkdirat(&at, name, Mode::RWXU) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(wrong) => return Err(wrong),
                    }
                    rustix::fs::openat(&at, name, flags, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(at)
    }
}

fn temporary(folder: &impl AsFd) -> io::Result<(String, OwnedFd)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 0..MAX_TRIES {
        let name = format!("{TEMPORARY}{number}.tmp");
        match rustix::fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((name, file)),
            Err(Errno::EXIST) => {}
            Err(wrong) => return Err(wrong.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn item(name: &OsStr, stat: &Stat) -> Item {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or_default();
    let rest = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
    Item {
        name: name.to_string_lossy().into_owned(),
        raw: name.to_owned(),
        kind: kind(stat),
        bytes: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: UNIX_EPOCH + Duration::new(seconds, rest),
        runs: Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR),
    }
}

fn kind(stat: &Stat) -> ItemKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => ItemKind::File,
        FileType::Directory => ItemKind::Folder,
        FileType::Symlink => ItemKind::Link,
        _ => ItemKind::Other,
    }
}

fn failed(doing: &'static str, path: &Path, wrong: Errno) -> StoreError {
    StoreError::Io { doing, path: path.to_owned(), source: wrong.into() }
}

/// Whether a name is that of a file that is being written, or was when the process died.
pub(crate) fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix(TEMPORARY).and_then(|rest| rest.strip_suffix(".tmp"));
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number < MAX_TRIES))
}

/// Whether a name starts with a dot.
pub(crate) fn is_hidden(name: &str) -> bool {
    OsStr::new(name).as_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests set up folders of their own")]

    use std::os::unix::fs::symlink;

    use super::*;

    fn yard() -> (tempfile::TempDir, Beneath) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("in")).unwrap();
        std::fs::write(dir.path().join("secret"), "outside").unwrap();
        let beneath = Beneath::open(&dir.path().join("in")).unwrap().unwrap();
        (dir, beneath)
    }

    #[test]
    fn what_is_written_is_read_again_with_folders_made_on_the_way() {
        let (_dir, beneath) = yard();

        beneath.write(Path::new("a/b/c"), b"text", false).unwrap();
        beneath.write(Path::new("a/b/c"), b"newer", true).unwrap();

        assert_eq!(beneath.text(Path::new("a/b/c"), 10).unwrap().as_deref(), Some("newer"));
        let names: Vec<String> =
            beneath.list(Path::new("a/b")).unwrap().into_iter().map(|i| i.name).collect();
        assert_eq!(names, ["c"]);
        assert!(!beneath.look(Path::new("a/b/c")).unwrap().runs, "a file that is there keeps its mode");
    }

    #[test]
    fn no_way_leads_out() {
        let (dir, beneath) = yard();
        symlink("../secret", dir.path().join("in/link")).unwrap();
        symlink("..", dir.path().join("in/up")).unwrap();

        for path in ["../secret", "/etc/passwd", "a/../../secret", "link", "up/secret", ".."] {
            assert!(!matches!(beneath.text(Path::new(path), 99), Ok(Some(_))), "{path}");
            assert!(beneath.write(Path::new(path), b"x", false).is_err(), "{path}");
        }
        assert_eq!(beneath.list(Path::new("up")).unwrap(), []);
        beneath.remove_all(Path::new("")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("secret")).unwrap(), "outside");
    }

    #[test]
    fn a_pipe_is_not_waited_for_and_a_read_is_bounded() {
        let (_dir, beneath) = yard();
        rustix::fs::mknodat(&beneath.root, "pipe", FileType::Fifo, Mode::RWXU, 0).unwrap();
        beneath.write(Path::new("long"), b"12345", false).unwrap();

        assert!(beneath.read(Path::new("pipe"), 9).is_err());
        assert!(matches!(beneath.read(Path::new("long"), 4), Err(StoreError::TooLarge { .. })));
    }

    #[test]
    fn a_rename_never_replaces() {
        let (_dir, beneath) = yard();
        beneath.write(Path::new("a/x"), b"1", false).unwrap();
        beneath.write(Path::new("b/x"), b"2", false).unwrap();

        assert!(beneath.rename(Path::new("a"), Path::new("b")).is_err());
        beneath.rename(Path::new("a"), Path::new("kept/a")).unwrap();
        assert_eq!(beneath.text(Path::new("kept/a/x"), 9).unwrap().as_deref(), Some("1"));
    }

    #[test]
    fn folders_that_are_exchanged_have_each_others_names() {
        let (_dir, beneath) = yard();
        beneath.write(Path::new("a/x"), b"1", false).unwrap();
        beneath.write(Path::new("b/c/x"), b"2", false).unwrap();

        assert!(beneath.exchange(Path::new("a"), Path::new("b/c")).unwrap());

        assert_eq!(beneath.text(Path::new("a/x"), 9).unwrap().as_deref(), Some("2"));
        assert_eq!(beneath.text(Path::new("b/c/x"), 9).unwrap().as_deref(), Some("1"));
        assert!(beneath.exchange(Path::new("a"), Path::new("none")).is_err());
    }
}
