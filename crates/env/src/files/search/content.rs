//! Searching for text: every file is counted, then the lines of the page are fetched.
//!
//! Files are handed out to the threads in the order of their paths. So whenever counting stops,
//! what was counted is everything up to some path, and the page does not depend on which thread
//! was faster. Only counts are kept, never lines, so memory does not grow with the matches.

use std::path::{Path, PathBuf};
use std::thread;

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink};
use hermes_core::files::{ContentReport, FileError, FoundLine, SearchReport, SearchStop};

use super::super::open::{self, Opened};
use super::super::stop::{Stop, Stoppable};
use super::globs::Glob;
use super::hits::{self, Lines, Tally};
use super::queue::{Count, Queue};
use super::{Page, Place, few, len, reason, walk};

/// Most lines shown before and after a match.
const MOST_CONTEXT: usize = 100;

/// One search for text.
pub(super) struct Job<'a> {
    pub(super) place: &'a Place,
    pub(super) matcher: RegexMatcher,
    pub(super) report: ContentReport,
    pub(super) context: usize,
    pub(super) page: Page,
    pub(super) stop: &'a Stop,
}

/// What was counted.
#[derive(Default)]
struct Counted {
    /// Files with a match, and how many lines of them match.
    files: Vec<(PathBuf, u64)>,
    unreadable: Vec<(PathBuf, String)>,
    /// Whether counting ended before the last file.
    cut: bool,
}

impl Job<'_> {
    /// Counts, and fetches the page.
    pub(super) fn run(&self, file_glob: Option<&Glob>) -> Result<SearchReport, FileError> {
        // A file that was named is searched whatever the glob says.
        let counted = if self.place.is_file { self.count_one()? } else { self.count_all(file_glob) };
        Ok(self.answer(counted))
    }

    /// Counts in the one file that was named; here even finding nothing needs a reason.
    fn count_one(&self) -> Result<Counted, FileError> {
        let mut tally = self.tally();
        let mut counted = Counted::default();
        let opened = open::open(&self.place.named)?;
        let searched = self.search(&mut hits::searcher(false, 0), &self.matcher, opened, &mut tally);
        let path = self.place.named.clone();
        match searched {
            Err(_) if self.stop.over().is_some() => counted.cut = true,
            Err(reason) => counted.unreadable.push((path, reason)),
            Ok(()) if tally.binary => {
                counted.unreadable.push((path, "a binary file, not searched".to_owned()));
            }
            Ok(()) if tally.lines > 0 => counted.files.push((path, tally.lines)),
            Ok(()) => {}
        }
        Ok(counted)
    }

    /// Counts in every file below the root, until there is enough.
    fn count_all(&self, file_glob: Option<&Glob>) -> Counted {
        let globs: Vec<_> = file_glob.into_iter().collect();
        let walk = walk::builder(&self.place.real, &globs).sort_by_file_name(Ord::cmp).build();
        let queue = Queue::new(walk, |count| self.stop.over().is_some() || self.enough(count));
        let mut all = thread::scope(|scope| {
            let start = |_| scope.spawn(|| self.work(&queue, file_glob));
            let threads: Vec<_> = (1..walk::threads()).map(start).collect();
            let mut all = self.work(&queue, file_glob);
            for thread in threads {
                match thread.join() {
                    Ok(share) => all.add(share),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        all.cut |= queue.was_cut();
        all.files.sort_unstable();
        self.trim(&mut all);
        all
    }

    /// Drops what threads counted past the limit while another one came to it.
    fn trim(&self, all: &mut Counted) {
        let mut count = Count::default();
        let full = all.files.iter().position(|(_, lines)| {
            count = count.and(*lines);
            self.full(count)
        });
        if let Some(last) = full.filter(|last| last + 1 < all.files.len()) {
            all.files.truncate(last + 1);
            all.cut = true;
        }
    }

    /// One thread: takes files and counts in them.
    fn work(&self, queue: &Queue<impl Fn(Count) -> bool>, file_glob: Option<&Glob>) -> Counted {
        let mut counted = Counted::default();
        let mut searcher = hits::searcher(false, 0);
        // A matcher of its own spares the thread waiting for the others' working memory.
        let matcher = self.matcher.clone();
        while let Some(batch) = queue.next() {
            for entry in batch {
                let path = match entry {
                    Ok(entry) => entry.into_path(),
                    Err(error) => {
                        counted.complain(walk::explain(&error, self.place));
                        continue;
                    }
                };
                if file_glob
                    .is_some_and(|glob| !glob.matches(path.strip_prefix(&self.place.real).unwrap_or(&path)))
                {
                    continue;
                }
                match self.count(&mut searcher, &matcher, &path) {
                    Ok(0) => {}
                    Ok(lines) => {
                        queue.found(lines);
                        counted.files.push((path, lines));
                    }
                    Err(_) if self.stop.over().is_some() => {
                        counted.cut = true;
                        return counted;
                    }
                    Err(reason) => counted.complain((self.place.shown(&path), reason)),
                }
            }
        }
        counted
    }

    fn count(&self, searcher: &mut Searcher, matcher: &RegexMatcher, path: &Path) -> Result<u64, String> {
        let mut tally = self.tally();
        let opened = open::open_found(path).map_err(reason)?;
        self.search(searcher, matcher, opened, &mut tally)?;
        Ok(tally.lines)
    }

    fn search<S: Sink<Error = std::io::Error>>(
        &self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        opened: Opened,
        sink: S,
    ) -> Result<(), String> {
        let reader = Stoppable { inner: opened.bounded(), stop: self.stop };
        searcher.search_reader(matcher, reader, sink).map_err(|error| error.to_string())
    }

    fn tally(&self) -> Tally {
        Tally { first_only: self.report == ContentReport::FilesOnly, ..Tally::default() }
    }

    /// Results that a page is made of: lines, or files.
    fn results(&self, count: Count) -> u64 {
        if self.report == ContentReport::Lines { count.lines } else { count.files }
    }

    /// Whether the page is full and the limits on counting are reached.
    fn full(&self, count: Count) -> bool {
        let limits = self.stop.limits();
        self.results(count) >= len(self.page.end())
            && (count.lines >= limits.lines || count.files >= limits.files)
    }

    fn enough(&self, count: Count) -> bool {
        self.full(count) || self.results(count) >= len(self.page.end()) && self.stop.counted_enough()
    }

    fn answer(&self, counted: Counted) -> SearchReport {
        let count = counted.files.iter().fold(Count::default(), |count, (_, lines)| count.and(*lines));
        let mut report = SearchReport {
            total: if self.report == ContentReport::FilesOnly { count.files } else { count.lines },
            total_is_lower_bound: counted.cut,
            unreadable: few(counted.unreadable),
            ..SearchReport::default()
        };
        let mut late = None;
        if self.report == ContentReport::Lines {
            (report.lines, late) = self.fetch(&counted.files);
        } else {
            let page = counted.files.into_iter().skip(self.page.offset).take(self.page.limit);
            let asked = |lines| if self.report == ContentReport::Count { lines } else { 0 };
            report.files = page.map(|(path, lines)| (self.place.shown(&path), asked(lines))).collect();
        }
        let more = self.results(count) > len(self.page.end());
        let stopped = || self.stop.over().unwrap_or(SearchStop::Limit);
        report.stopped =
            late.or_else(|| more.then_some(SearchStop::Limit)).or_else(|| counted.cut.then(stopped));
        report
    }

    /// The lines of the page, and why they are not all there.
    fn fetch(&self, files: &[(PathBuf, u64)]) -> (Vec<FoundLine>, Option<SearchStop>) {
        let context = self.context.min(MOST_CONTEXT);
        let mut searcher = hits::searcher(true, context);
        let mut found = Vec::new();
        let (mut skip, mut take) = (len(self.page.offset), len(self.page.limit));
        for (path, lines) in files {
            if take == 0 {
                break;
            }
            if skip >= *lines {
                skip -= lines;
                continue;
            }
            let shown = self.place.shown(path);
            let mut sink = Lines::new(&self.matcher, &shown, len(context), skip, take);
            // A file that cannot be read any more has changed since it was counted.
            let opened = if self.place.is_file { open::open(path) } else { open::open_found(path) };
            if let Ok(opened) = opened
                && self.search(&mut searcher, &self.matcher, opened, &mut sink).is_err()
                && let Some(stop) = self.stop.over()
            {
                return (found, Some(stop));
            }
            take = take.saturating_sub(lines - skip);
            skip = 0;
            found.append(&mut sink.found);
        }
        (found, None)
    }
}

impl Counted {
    fn complain(&mut self, what: (PathBuf, String)) {
        // Far more than are shown, so that the first ones by name are among them in all but odd cases.
        if self.unreadable.len() < 1000 {
            self.unreadable.push(what);
        }
    }

    fn add(&mut self, share: Self) {
        self.files.extend(share.files);
        self.unreadable.extend(share.unreadable);
        self.cut |= share.cut;
    }
}
