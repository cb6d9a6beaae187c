//! Where lines begin in large files that were read before, so that their next page need not be
//! counted to from the first byte.
//!
//! An index is used only for a file that is to the nanosecond as it was; files that changed a
//! moment ago have none, for a second change within the grain of the clock could not be told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_core::files::Stamp;

/// Smaller files are read as fast without.
const WORTH_IT: u64 = 512 * 1024;

/// Files remembered at a time.
const MOST_FILES: usize = 16;

/// Places remembered for one file.
const MOST_MARKS: usize = 16 * 1024;

/// How long a file must have been as it is.
const SETTLED: Duration = Duration::from_secs(1);

/// The indexes of the files that were read last.
#[derive(Debug, Default)]
pub(crate) struct Indexes(Mutex<VecDeque<(Stamp, Arc<Index>)>>);

/// Where some of the lines of a file begin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// How many lines there are.
    pub(crate) total_lines: u64,
    /// In order.
    marks: Vec<Mark>,
}

/// A line that begins at a known place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its number, counted from 1.
    pub(crate) line: u64,
    /// Its first byte.
    pub(crate) offset: u64,
}

impl Index {
    /// Notes the first line that begins in a chunk of the file: the chunk's place, the number of
    /// the line it begins within, and where in it the first line ends.
    pub(crate) fn note(&mut self, offset: u64, within: u64, first_end: Option<usize>) {
        if let Some(end) = first_end.and_then(|end| u64::try_from(end).ok())
            && self.marks.len() < MOST_MARKS
        {
            self.marks.push(Mark { line: within + 1, offset: offset + end + 1 });
        }
    }

    /// The last place that is not behind a line.
    pub(crate) fn before(&self, line: u64) -> Option<Mark> {
        let known = self.marks.partition_point(|mark| mark.line <= line);
        self.marks.get(known.checked_sub(1)?).copied()
    }
}

impl Indexes {
    /// The index of a file, if it was read before and is as it was.
    pub(crate) fn of(&self, stamp: Stamp) -> Option<Arc<Index>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(of, _)| *of == stamp).map(|(_, index)| Arc::clone(index))
    }

    /// Whether a file is worth an index and has been as it is for long enough.
    pub(crate) fn wants(stamp: Stamp) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let settled = now.saturating_sub(SETTLED).as_nanos();
        stamp.size >= WORTH_IT && u128::try_from(stamp.modified).is_ok_and(|modified| modified < settled)
    }

    /// Remembers an index; the one that was made first is forgotten when there are too many.
    pub(crate) fn keep(&self, stamp: Stamp, index: Index) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _)| *of != stamp);
        known.truncate(MOST_FILES - 1);
        known.push_front((stamp, Arc::new(index)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(file: u64) -> Stamp {
        Stamp { size: WORTH_IT, modified: 1, file }
    }

    #[test]
    fn the_last_mark_before_a_line_is_found() {
        let mut index = Index::default();
        index.note(0, 1, Some(4));
        index.note(100, 20, None);
        index.note(200, 40, Some(0));

        assert_eq!(index.before(1), None);
        assert_eq!(index.before(2), Some(Mark { line: 2, offset: 5 }));
        assert_eq!(index.before(40), Some(Mark { line: 2, offset: 5 }));
        assert_eq!(index.before(999), Some(Mark { line: 41, offset: 201 }));
    }

    #[test]
    fn only_large_files_that_have_settled_are_remembered_and_only_so_many() {
        let indexes = Indexes::default();
        for file in 0..20 {
            indexes.keep(stamp(file), Index::default());
        }

        assert!(indexes.of(stamp(0)).is_none() && indexes.of(stamp(19)).is_some());
        assert!(indexes.of(Stamp { modified: 2, ..stamp(19) }).is_none());
        assert!(Indexes::wants(stamp(1)));
        assert!(!Indexes::wants(Stamp { size: 1, ..stamp(1) }));
        assert!(!Indexes::wants(Stamp { modified: i128::MAX, ..stamp(1) }));
    }
}
