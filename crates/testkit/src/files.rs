//! Files that exist only in a test: texts, and links from one path to another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes_core::files::{
    Change, Changed, FileError, FilePage, Files, PageLines, PageRequest, SearchQuery, SearchReport, Stamp,
    TextPage, WholeFile,
};
use hermes_core::permit::{Permit, Read};

use crate::lock;

/// Texts and links by path.
#[derive(Default)]
pub struct FakeFiles {
    texts: Mutex<BTreeMap<PathBuf, String>>,
    links: Mutex<BTreeMap<PathBuf, PathBuf>>,
}

impl FakeFiles {
    /// No files at all.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Puts a text there.
    pub fn write(&self, path: &str, text: &str) {
        lock(&self.texts).insert(path.into(), text.to_owned());
    }

    /// Makes one path lead to another, with everything below it.
    pub fn link(&self, from: &str, to: &str) {
        lock(&self.links).insert(from.into(), to.into());
    }
}

impl Files for FakeFiles {
    fn real_path(&self, path: &Path) -> PathBuf {
        let links = lock(&self.links);
        let led = links.iter().find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?)));
        // Joining nothing leaves a separator behind; components do not have it.
        led.map_or_else(|| path.to_path_buf(), |real| real.components().collect())
    }

    fn page(
        &self,
        permit: Permit<Read>,
        _request: PageRequest,
    ) -> BoxFuture<'_, Result<FilePage, FileError>> {
        let path = self.real_path(permit.path());
        let page = match lock(&self.texts).get(&path) {
            None => Err(FileError::Missing { path, similar: Vec::new() }),
            Some(text) => {
                let mut lines = PageLines::default();
                text.lines().for_each(|line| lines.push(line, 0));
                let total_lines = u64::try_from(lines.len()).unwrap_or(u64::MAX);
                Ok(FilePage::Text(TextPage { lines, total_lines, ..TextPage::default() }))
            }
        };
        Box::pin(std::future::ready(page))
    }

    fn search(
        &self,
        _permit: Permit<Read>,
        _query: SearchQuery,
    ) -> BoxFuture<'_, Result<SearchReport, FileError>> {
        Box::pin(std::future::ready(Ok(SearchReport::default())))
    }

    fn whole(&self, permit: Permit<Read>, _max_bytes: u64) -> BoxFuture<'_, Result<WholeFile, FileError>> {
        let path = permit.path().to_path_buf();
        let found = match lock(&self.texts).get(&path) {
            None => Err(FileError::Missing { path, similar: Vec::new() }),
            Some(text) => Ok(WholeFile { bytes: text.clone().into_bytes(), ..WholeFile::default() }),
        };
        Box::pin(std::future::ready(found))
    }

    /// Makes the changes without looking at what is expected.
    fn change(&self, changes: Vec<Change>) -> BoxFuture<'_, Result<Vec<Changed>, FileError>> {
        let mut texts = lock(&self.texts);
        let mut apply = |change: Change| {
            let (path, text) = match change {
                Change::Put { permit, content, .. } => {
                    (permit.path().to_path_buf(), Some(String::from_utf8_lossy(&content.bytes).into_owned()))
                }
                Change::Remove { permit, .. } => (permit.path().to_path_buf(), None),
                Change::Move { from, to, .. } => (to.path().to_path_buf(), texts.remove(from.path())),
            };
            let stamp = text.as_ref().map(|_| Stamp::default());
            match text {
                Some(text) => drop(texts.insert(path.clone(), text)),
                None => drop(texts.remove(&path)),
            }
            Changed { path, stamp, dirs_created: false }
        };
        let done = changes.into_iter().map(&mut apply).collect();
        Box::pin(std::future::ready(Ok(done)))
    }
}
