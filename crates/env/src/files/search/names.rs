//! Searching for files by a glob, the most recently changed first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use hermes_core::files::{SearchReport, SearchStop};
use ignore::WalkState;

use super::super::stop::Stop;
use super::globs::Glob;
use super::{Page, Place, few, len, walk};

/// One search for files.
pub(super) struct Job<'a> {
    pub(super) place: &'a Place,
    pub(super) glob: Glob,
    pub(super) file_glob: Option<Glob>,
    pub(super) page: Page,
    pub(super) stop: &'a Stop,
}

/// The newest files, as many as lie before the end of the page.
#[derive(Default)]
struct Newest {
    /// The one to drop first is on top: the oldest, and of those the last by path.
    heap: BinaryHeap<(Reverse<SystemTime>, PathBuf)>,
    total: u64,
    unreadable: Vec<(PathBuf, String)>,
    cut: Option<SearchStop>,
}

impl Job<'_> {
    /// Walks everything: the newest file may be the last one found.
    pub(super) fn run(&self) -> SearchReport {
        let mut newest = if self.place.is_file { self.one() } else { self.all() };
        let more = newest.total > len(self.page.end());
        let files = std::mem::take(&mut newest.heap).into_sorted_vec();
        let page = files.into_iter().skip(self.page.offset).take(self.page.limit);
        SearchReport {
            total: newest.total,
            total_is_lower_bound: newest.cut.is_some(),
            files: page.map(|(_, path)| (path, 0)).collect(),
            stopped: newest.cut.or_else(|| more.then_some(SearchStop::Limit)),
            unreadable: few(newest.unreadable),
            ..SearchReport::default()
        }
    }

    fn one(&self) -> Newest {
        let mut newest = Newest::default();
        if self.wanted(self.place.named.file_name().map_or(&self.place.named, Path::new)) {
            let changed = fs::metadata(&self.place.named).and_then(|metadata| metadata.modified());
            newest.add(changed.unwrap_or(SystemTime::UNIX_EPOCH), self.place.named.clone(), self.page);
        }
        newest
    }

    fn all(&self) -> Newest {
        let newest = Mutex::new(Newest::default());
        let lock = || newest.lock().unwrap_or_else(PoisonError::into_inner);
        let globs: Vec<_> = std::iter::once(&self.glob).chain(&self.file_glob).collect();
        walk::builder(&self.place.real, &globs).build_parallel().run(|| {
            Box::new(|entry| {
                if let Some(stop) = self.stop.over() {
                    lock().cut = Some(stop);
                    return WalkState::Quit;
                }
                match entry {
                    Err(error) => lock().unreadable.push(walk::explain(&error, self.place)),
                    Ok(entry) if walk::is_file(&entry) => {
                        let path = entry.path().strip_prefix(&self.place.real).unwrap_or(entry.path());
                        if self.wanted(path) {
                            let changed = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                            lock().add(
                                changed.unwrap_or(SystemTime::UNIX_EPOCH),
                                path.to_path_buf(),
                                self.page,
                            );
                        }
                    }
                    Ok(_) => {}
                }
                WalkState::Continue
            })
        });
        newest.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn wanted(&self, below: &Path) -> bool {
        self.glob.matches(below) && self.file_glob.as_ref().is_none_or(|glob| glob.matches(below))
    }
}

impl Newest {
    fn add(&mut self, changed: SystemTime, path: PathBuf, page: Page) {
        self.total += 1;
        self.heap.push((Reverse(changed), path));
        if self.heap.len() > page.end() {
            self.heap.pop();
        }
    }
}
