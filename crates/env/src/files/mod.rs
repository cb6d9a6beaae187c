//! Files of the machine this program runs on.
//!
//! The work is done by plain blocking functions over paths, one module each; this file hands them
//! to a thread that may block and stops them when nobody waits any more.

#![expect(clippy::disallowed_methods, reason = "the door to the user's files")]

mod change;
mod index;
mod kind;
mod lines;
mod open;
mod page;
mod resolve;
mod search;
mod similar;
mod spot;
mod stop;
mod whole;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hermes_core::files::{
    Change, Changed, Content, Expect, FileError, FilePage, Files, PageRequest, SearchQuery, SearchReport,
    WholeFile,
};
use hermes_core::host::{Host, blocking};
use hermes_core::permit::{Permit, Read};

use change::Act;
use index::Indexes;
use page::read_page;
use search::search;
use stop::{Limits, Stop, StopOnDrop};

/// The path with links followed as far as it exists.
pub fn real_path(path: &Path) -> PathBuf {
    resolve::real_path(path)
}

/// What is at a path now, for the user's own commands; nothing when there is no file.
pub fn look(path: &Path, max_bytes: u64) -> Result<Option<WholeFile>, FileError> {
    match whole::read_whole(path, max_bytes) {
        Ok(file) => Ok(Some(file)),
        Err(FileError::Missing { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// A page of what a file holds that lies in memory.
pub(crate) fn page_of(bytes: &[u8], request: PageRequest, host: Arc<dyn Host>) -> std::io::Result<FilePage> {
    page::page_of(bytes, request, &Stop::new(host, Limits::DEFAULT))
}

/// The names that are likest to the wanted one, best first.
pub(crate) fn best_names(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    similar::best(wanted, names)
}

/// A line as it is shown in results.
pub(crate) fn excerpt_of(line: &[u8]) -> String {
    search::excerpt_of(line)
}

pub(crate) use search::{Meant, check_pattern};

/// Puts files back as they were, all or none, for the user's own commands: calls of tools need a
/// permit and go through [`Files::change`]. A path without content is removed.
pub fn put_back(files: Vec<(PathBuf, Option<Content>)>) -> Result<(), FileError> {
    let acts = files.into_iter().map(|(path, content)| match content {
        Some(content) => Act::Put { path, content, expect: Expect::Anything },
        None => Act::Remove { path, expect: Expect::Anything },
    });
    change::change(acts).map(drop)
}

/// Files on the local disks.
pub struct LocalFiles {
    host: Arc<dyn Host>,
    indexes: Arc<Indexes>,
}

impl LocalFiles {
    /// Reads with the threads and the clock of `host`.
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self { host, indexes: Arc::default() }
    }
}

impl Files for LocalFiles {
    fn real_path(&self, path: &Path) -> PathBuf {
        resolve::real_path(path)
    }

    fn page(&self, permit: Permit<Read>, request: PageRequest) -> BoxFuture<'_, Result<FilePage, FileError>> {
        async move {
            let stop = Stop::new(Arc::clone(&self.host), Limits::DEFAULT);
            let _guard = StopOnDrop::of(&stop);
            let indexes = Arc::clone(&self.indexes);
            blocking(&self.host, move || read_page(permit.path(), request, &indexes, &stop)).await?
        }
        .boxed()
    }

    fn search(
        &self,
        permit: Permit<Read>,
        query: SearchQuery,
    ) -> BoxFuture<'_, Result<SearchReport, FileError>> {
        async move {
            let stop = Stop::new(Arc::clone(&self.host), Limits::DEFAULT);
            let _guard = StopOnDrop::of(&stop);
            blocking(&self.host, move || search(permit.path(), &query, &stop)).await?
        }
        .boxed()
    }

    fn whole(&self, permit: Permit<Read>, max_bytes: u64) -> BoxFuture<'_, Result<WholeFile, FileError>> {
        async move { blocking(&self.host, move || whole::read_whole(permit.path(), max_bytes)).await? }
            .boxed()
    }

    fn change(&self, changes: Vec<Change>) -> BoxFuture<'_, Result<Vec<Changed>, FileError>> {
        async move {
            let done =
                blocking(&self.host, move || change::change(changes.into_iter().map(Act::from))).await??;
            // Everybody sees the change already. That it also outlives a power cut takes the disk
            // several times as long as all the rest, and nobody has to wait for it.
            let unsynced = done.unsynced;
            self.host.run_blocking(Box::new(move || unsynced.iter().for_each(|file| drop(file.sync_all()))));
            Ok(done.changed)
        }
        .boxed()
    }
}
