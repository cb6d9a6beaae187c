//! What a session has read and written, so that it notices when a file is no longer as it was.
//!
//! It is bookkeeping beside the calls, not an effect of them: nothing here changes what a call
//! does, so calls need not wait for each other because of it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use hermes_core::cx::ToolCx;
use hermes_core::files::Stamp;
use hermes_core::session::Slot;

/// Files remembered.
const MOST_FILES: usize = 1_000;

/// Pages remembered.
const MOST_PAGES: usize = 500;

/// The log of one session.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    files: VecDeque<(PathBuf, Seen)>,
    pages: VecDeque<(PageKey, Shown)>,
}

impl Slot for ReadLog {
    const NAME: &'static str = "read log";
}

/// A file as the session last saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) stamp: Stamp,
    /// Whether all of it was seen.
    pub(crate) whole: bool,
}

/// Which page of which file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageKey {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    pub(crate) limit: u64,
}

#[derive(Debug, Clone, Copy)]
struct Shown {
    digest: u64,
    times: u32,
}

impl ReadLog {
    /// How the file was when the session last read or wrote it.
    pub(crate) fn seen(&self, path: &Path) -> Option<Seen> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, seen)| *seen)
    }

    /// Remembers how a file is now; a part of a file that was seen whole and is the same adds nothing.
    pub(crate) fn saw(&mut self, path: &Path, seen: Seen) {
        let known = self.seen(path).filter(|known| known.stamp == seen.stamp);
        let whole = seen.whole || known.is_some_and(|known| known.whole);
        self.forget(path);
        if self.files.len() == MOST_FILES {
            self.files.pop_front();
        }
        self.files.push_back((path.to_path_buf(), Seen { whole, ..seen }));
    }

    /// The file is gone.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.files.retain(|(known, _)| known != path);
    }

    /// Counts that a page was asked for, and answers how often it was with this very content.
    pub(crate) fn shown(&mut self, key: PageKey, digest: u64) -> u32 {
        let known =
            self.pages.iter().position(|(known, _)| *known == key).and_then(|at| self.pages.remove(at));
        let times = match known {
            Some((_, shown)) if shown.digest == digest => shown.times.saturating_add(1),
            _ => 1,
        };
        if self.pages.len() == MOST_PAGES {
            self.pages.pop_front();
        }
        self.pages.push_back((key, Shown { digest, times }));
        times
    }

    /// The model no longer has what it was shown; it may be shown again.
    pub(crate) fn forget_pages(&mut self) {
        self.pages.clear();
    }
}

/// Uses the session's log; a call without a session has none. What a script is shown the model has not
/// seen, so pages do not count there, neither those of before nor those to come.
pub(crate) fn with_log<R>(cx: &ToolCx, use_it: impl FnOnce(&mut ReadLog) -> R) -> Option<R> {
    let in_script = cx.within().is_some();
    let use_it = |log: &mut ReadLog| {
        if !in_script {
            return use_it(log);
        }
        let pages = std::mem::take(&mut log.pages);
        let answer = use_it(log);
        log.pages = pages;
        answer
    };
    cx.with_slot(use_it).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(size: u64, whole: bool) -> Seen {
        Seen { stamp: Stamp { size, ..Stamp::default() }, whole }
    }

    fn key(offset: u64) -> PageKey {
        PageKey { path: "/a".into(), offset, limit: 10 }
    }

    #[test]
    fn a_part_of_a_file_known_whole_leaves_it_known_whole() {
        let mut log = ReadLog::default();
        log.saw(Path::new("/a"), seen(1, true));
        log.saw(Path::new("/a"), seen(1, false));
        assert_eq!(log.seen(Path::new("/a")), Some(seen(1, true)));

        log.saw(Path::new("/a"), seen(2, false));
        assert_eq!(log.seen(Path::new("/a")), Some(seen(2, false)));
    }

    #[test]
    fn the_same_page_is_counted_until_it_changes() {
        let mut log = ReadLog::default();

        let times =
            [(1, 7), (1, 7), (2, 7), (1, 7), (1, 8), (1, 8)].map(|(at, text)| log.shown(key(at), text));

        assert_eq!(times, [1, 2, 1, 3, 1, 2]);
    }

    #[test]
    fn the_log_is_bounded() {
        let mut log = ReadLog::default();
        for n in 0..2_000 {
            log.saw(&PathBuf::from(format!("/{n}")), seen(n, true));
            log.shown(key(n), 0);
        }

        assert_eq!((log.files.len(), log.pages.len()), (MOST_FILES, MOST_PAGES));
        assert_eq!(log.seen(Path::new("/0")), None);
    }
}
