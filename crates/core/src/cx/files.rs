//! The files of a call's environment, as far as the call may use them. What they held before a change is kept first.

use std::path::{Path, PathBuf};

use super::ToolCx;
use crate::checkpoint::{Before, Endangered, Moment, State};
use crate::error::ToolError;
use crate::files::{Change, Changed, FileError, FilePage, PageRequest, SearchQuery, SearchReport, WholeFile};
use crate::keeping::BeforeCommand;
use crate::permit::{Exec, Permit};

/// The environment's files behind the permits of one call.
pub struct PermittedFiles<'a> {
    pub(super) cx: &'a ToolCx,
}

impl PermittedFiles<'_> {
    /// A page of a file, by the path as the model wrote it.
    pub async fn page(&self, path: &str, request: PageRequest) -> Result<FilePage, ToolError> {
        let permit = self.cx.0.running.clearance.read(&self.cx.place().resolve(path))?;
        Ok(self.cx.own_files().page(permit, request).await?)
    }

    /// A search below a path as the model wrote it.
    pub async fn search(&self, path: &str, query: SearchQuery) -> Result<SearchReport, ToolError> {
        let permit = self.cx.0.running.clearance.read(&self.cx.place().resolve(path))?;
        self.cx.own_files().search(permit, query).await.map_err(|wrong: FileError| wrong.into())
    }

    /// Where a path as the model wrote it really leads; permits for changes are for such paths.
    pub fn real_path(&self, path: &str) -> PathBuf {
        self.cx.own_files().real_path(&self.cx.place().resolve(path))
    }

    /// Everything in a file, if that is no more than `max_bytes`.
    pub async fn whole(&self, path: &Path, max_bytes: u64) -> Result<WholeFile, ToolError> {
        let permit = self.cx.0.running.clearance.read(path)?;
        Ok(self.cx.own_files().whole(permit, max_bytes).await?)
    }

    /// Makes all of these changes or none; what the files held before is kept first.
    pub async fn change(&self, changes: Vec<Change>) -> Result<Applied, ToolError> {
        let not_kept = self.keep(&changes).await?;
        let done = self.cx.own_files().change(changes).await?;
        Ok(Applied { changed: done, not_kept })
    }

    /// Keeps what a permitted command is about to change; what comes back is why something was not.
    /// The command runs all the same: a person or a rule has said that it may.
    pub async fn keep_before(&self, permit: &Permit<Exec>, endangered: &[Endangered]) -> Option<String> {
        let keeper = self.cx.services().checkpoints.as_ref().filter(|_| !self.cx.is_elsewhere())?;
        let kept =
            BeforeCommand { files: self.cx.services().files.as_ref(), keeper: keeper.as_ref(), permit };
        kept.keep(self.moment(), self.cx.place().home.as_deref(), endangered).await
    }

    fn moment(&self) -> Moment<'_> {
        let session = &self.cx.0.running.session;
        let (turn, cwd) = (session.turn(), session.workspace());
        Moment { session: session.id(), turn, cwd, tool: self.cx.tool() }
    }

    /// Keeps the old content of what is about to change; what comes back is why something was not.
    async fn keep(&self, changes: &[Change]) -> Result<Option<String>, ToolError> {
        let Some(keeper) = &self.cx.services().checkpoints else { return Ok(None) };
        if self.cx.is_elsewhere() {
            return Ok(Some(format!("files of {} are not kept in checkpoints", self.cx.environment())));
        }
        let moment = self.moment();
        let mut files: Vec<Before> = Vec::new();
        let mut too_large = None;
        for path in changes.iter().flat_map(Change::paths) {
            if files.iter().any(|known| known.path == path) || !keeper.wants(&moment, path) {
                continue;
            }
            let state = match self.whole(path, keeper.max_bytes()).await {
                Ok(WholeFile { bytes, mode, .. }) => State::File { bytes, mode },
                Err(ToolError::File(FileError::Missing { .. })) => State::Absent,
                Err(ToolError::File(FileError::TooLarge { .. })) => {
                    too_large = Some(format!("{} is too large for a checkpoint", path.display()));
                    continue;
                }
                Err(other) => return Err(other),
            };
            files.push(Before { path: path.to_path_buf(), state });
        }
        if files.is_empty() {
            return Ok(too_large);
        }
        let kept = keeper.keep(moment, files).await;
        Ok(kept.err().map(|why| format!("no checkpoint could be kept: {why}")).or(too_large))
    }
}

/// What came of a list of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// One answer per change, in their order.
    pub changed: Vec<Changed>,
    /// Why the old content of something was not kept.
    pub not_kept: Option<String>,
}
