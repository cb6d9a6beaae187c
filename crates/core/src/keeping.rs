//! Keeps what files hold before a command changes them.
//!
//! A command says less about what it changes than a tool for files does, so this goes no further
//! than is cheap: so many files, so many bytes, and neither the root nor the user's home as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::checkpoint::{Before, Checkpoints, Endangered, Moment, State};
use crate::files::{FileError, Files, SearchQuery, SearchTarget};
use crate::permit::{Exec, Permit};

/// Most files of one folder that are kept.
const MOST_FILES: usize = 2000;

/// Most bytes that are kept before one command.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What it takes.
pub(crate) struct BeforeCommand<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) keeper: &'a dyn Checkpoints,
    pub(crate) permit: &'a Permit<Exec>,
}

/// What was collected so far.
#[derive(Default)]
struct Collected {
    files: Vec<Before>,
    seen: BTreeSet<PathBuf>,
    bytes: u64,
    not_kept: Option<String>,
}

impl BeforeCommand<'_> {
    /// Keeps these; what comes back is why something was not.
    pub(crate) async fn keep(
        &self,
        moment: Moment<'_>,
        home: Option<&Path>,
        endangered: &[Endangered],
    ) -> Option<String> {
        let mut collected = Collected::default();
        for one in endangered {
            match one {
                Endangered::Written(path) => {
                    let path = self.files.real_path(path);
                    self.file(&moment, &path, Missing::IsKept, &mut collected).await;
                }
                Endangered::Changed(path) => {
                    let path = self.files.real_path(path);
                    let is_folder = self.file(&moment, &path, Missing::IsNothing, &mut collected).await;
                    let is_all = path.parent().is_none() || home.is_some_and(|home| home.starts_with(&path));
                    if is_folder && !is_all {
                        self.folder(&moment, &path, &mut collected).await;
                    }
                }
            }
        }
        let Collected { files, not_kept, .. } = collected;
        if files.is_empty() {
            return not_kept;
        }
        let failed = self.keeper.keep(moment, files).await.err();
        failed.map(|why| format!("no checkpoint could be kept: {why}")).or(not_kept)
    }

    /// Takes one file; answers whether it is a folder instead.
    async fn file(&self, moment: &Moment<'_>, path: &Path, missing: Missing, all: &mut Collected) -> bool {
        if !self.keeper.wants(moment, path) || !all.seen.insert(path.to_path_buf()) {
            return false;
        }
        let room = self.keeper.max_bytes().min(MOST_BYTES.saturating_sub(all.bytes));
        let state = match self.files.whole(self.permit.to_keep(path), room).await {
            Ok(whole) => {
                all.bytes += u64::try_from(whole.bytes.len()).unwrap_or(u64::MAX);
                State::File { bytes: whole.bytes, mode: whole.mode }
            }
            Err(FileError::Missing { .. }) if missing == Missing::IsKept => State::Absent,
            Err(FileError::TooLarge { .. }) => {
                all.not_kept = Some(format!("{} is too large for a checkpoint", path.display()));
                return false;
            }
            Err(FileError::IsDirectory(_)) => return true,
            // What cannot be read cannot be kept; the command may find that it cannot change it either.
            Err(_) => return false,
        };
        all.files.push(Before { path: path.to_path_buf(), state });
        false
    }

    async fn folder(&self, moment: &Moment<'_>, path: &Path, all: &mut Collected) {
        let target = SearchTarget::Files { pattern: "*".to_owned() };
        let query = SearchQuery { target, file_glob: None, limit: MOST_FILES, offset: 0 };
        let Ok(report) = self.files.search(self.permit.to_keep(path), query).await else { return };
        if report.stopped.is_some() {
            all.not_kept = Some(format!("{} has too many files for a checkpoint", path.display()));
        }
        for (file, _) in report.files {
            self.file(moment, &path.join(file), Missing::IsNothing, all).await;
        }
    }
}

/// What it means that there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// That there will be one.
    IsKept,
    /// That there is nothing to keep.
    IsNothing,
}
