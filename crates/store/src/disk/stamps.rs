//! Stamps: whether a file is still the one that was looked at.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use serde::{Deserialize, Serialize};

/// How long a file must have lain still for its stamp to stand for its content.
const SETTLED: Duration = Duration::from_secs(3);

/// Changes when a file does: dates, size and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "[u64; 6]", into = "[u64; 6]")]
pub struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    pub(super) bytes: u64,
    number: u64,
}

impl Stamp {
    /// All that it is made of, to be kept.
    pub fn words(&self) -> [u64; 6] {
        let ((day, of_day), (change, of_change)) = (self.modified, self.changed);
        let [a, b, c, d] = [day, of_day, change, of_change].map(i64::cast_unsigned);
        [a, b, c, d, self.bytes, self.number]
    }

    /// When it was last written, since the epoch.
    pub(crate) fn written_nanos(&self) -> i128 {
        nanos(self.modified)
    }

    /// When anything about it was last changed, since the epoch.
    pub(crate) fn touched_nanos(&self) -> i128 {
        nanos(self.modified).max(nanos(self.changed))
    }
}

impl From<Stamp> for [u64; 6] {
    fn from(stamp: Stamp) -> Self {
        stamp.words()
    }
}

impl From<[u64; 6]> for Stamp {
    fn from([day, of_day, change, of_change, bytes, number]: [u64; 6]) -> Self {
        let [a, b, c, d] = [day, of_day, change, of_change].map(u64::cast_signed);
        Self { modified: (a, b), changed: (c, d), bytes, number }
    }
}

fn nanos((seconds, rest): (i64, i64)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

impl Stamp {
    /// Whether the file had lain still for a while at this time. One that was changed a moment ago may be
    /// changed again within the same tick of the clock that stamps it.
    pub(crate) fn had_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(self.changed.0).unwrap_or_default();
        Duration::from_secs(changed) + SETTLED < now
    }
}

/// The stamp of a regular file, or of one behind a link; `None` if there is none.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| stamp_of(&meta))
}

/// The stamp of whatever is there, behind links; that of a folder changes when names in it come and go.
pub(crate) fn any_stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|meta| stamp_of(&meta))
}

/// A folder, for the stamps of many things below it: the way to it is gone once.
pub(crate) struct Below<'a> {
    folder: &'a Path,
    /// Nothing where it cannot be opened; each path is then gone from the beginning.
    opened: Option<OwnedFd>,
}

impl<'a> Below<'a> {
    pub(crate) fn of(folder: &'a Path) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self { folder, opened: rustix::fs::open(folder, flags, Mode::empty()).ok() }
    }

    /// The same as [`any_stamp`] of this path below the folder, or of the folder when it is empty. A whole path is
    /// gone from its beginning.
    pub(crate) fn any_stamp(&self, path: &str) -> Option<Stamp> {
        match &self.opened {
            Some(opened) if !path.is_empty() => {
                rustix::fs::statat(opened, path, AtFlags::empty()).ok().map(|stat| Stamp::from(&stat))
            }
            _ => any_stamp(&whole(self.folder, path)),
        }
    }
}

/// A path below a folder, or the folder when it is empty.
pub(crate) fn whole(folder: &Path, path: &str) -> PathBuf {
    if path.is_empty() { folder.to_owned() } else { folder.join(path) }
}

impl From<&Stat> for Stamp {
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "the same numbers, as the standard library tells them"
    )]
    fn from(stat: &Stat) -> Self {
        Self {
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            bytes: stat.st_size as u64,
            number: stat.st_ino,
        }
    }
}

pub(super) fn stamp_of(meta: &fs::Metadata) -> Stamp {
    Stamp {
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        bytes: meta.len(),
        number: meta.ino(),
    }
}
