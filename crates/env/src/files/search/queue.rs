//! Hands out the files of a walk to several threads, in order, until enough was found.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, Walk};

use super::walk::is_file;

/// Files handed out at a time.
const BATCH: usize = 32;

/// A batch of files, or of errors met on the way.
pub(super) type Batch = Vec<Result<DirEntry, ignore::Error>>;

/// How much was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Matching lines.
    pub(super) lines: u64,
    /// Files that have some.
    pub(super) files: u64,
}

impl Count {
    /// With one more file.
    pub(super) fn and(self, lines: u64) -> Self {
        Self { lines: self.lines.saturating_add(lines), files: self.files + 1 }
    }
}

/// A walk that several threads take files from.
pub(super) struct Queue<Enough> {
    walk: Mutex<Progress>,
    lines: AtomicU64,
    files: AtomicU64,
    enough: Enough,
}

struct Progress {
    /// None when the walk came to its end or was given up.
    walk: Option<Walk>,
    cut: bool,
}

impl<Enough: Fn(Count) -> bool> Queue<Enough> {
    /// A queue that ends with the walk, or when `enough` says so.
    pub(super) fn new(walk: Walk, enough: Enough) -> Self {
        let walk = Mutex::new(Progress { walk: Some(walk), cut: false });
        Self { walk, lines: AtomicU64::new(0), files: AtomicU64::new(0), enough }
    }

    /// The next files. Whoever takes them searches them all, so that no gap is left in the order.
    pub(super) fn next(&self) -> Option<Batch> {
        let mut progress = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        let walk = progress.walk.as_mut()?;
        let count =
            Count { lines: self.lines.load(Ordering::Relaxed), files: self.files.load(Ordering::Relaxed) };
        if (self.enough)(count) {
            progress.walk = None;
            progress.cut = true;
            return None;
        }
        let wanted = |entry: &Result<DirEntry, _>| entry.as_ref().map_or(true, is_file);
        let batch: Batch = walk.filter(wanted).take(BATCH).collect();
        if batch.is_empty() {
            progress.walk = None;
            return None;
        }
        Some(batch)
    }

    /// Says that a file has this many matching lines.
    pub(super) fn found(&self, lines: u64) {
        self.lines.fetch_add(lines, Ordering::Relaxed);
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether files were left when the queue ended.
    pub(super) fn was_cut(&self) -> bool {
        self.walk.lock().unwrap_or_else(PoisonError::into_inner).cut
    }
}
