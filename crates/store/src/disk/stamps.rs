//! Stamps: whether a file is still the one that was looked at.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a file must have lain still for its stamp to stand for its content.
const SETTLED: Duration = Duration::from_secs(3);

use serde::{Deserialize, Serialize};

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

pub(super) fn stamp_of(meta: &fs::Metadata) -> Stamp {
    Stamp {
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        bytes: meta.len(),
        number: meta.ino(),
    }
}
