//! Going back to what files held before calls changed them.
//!
//! Going back to a checkpoint undoes its turn and every later one: each file becomes what it was
//! before the first of these changes, and a file that did not exist then is removed. What is there
//! now is kept as a checkpoint first, so that going back can be undone too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use hermes_core::checkpoint::{Before, Moment, State};
use hermes_core::effect::lexical;
use hermes_core::files::{Content, FileError, WholeFile};
use hermes_core::session::Place;
use hermes_store::StoreError;
use hermes_store::checkpoints::{Checkpoint, Kept};

use crate::checkpoints::HomeCheckpoints;
use crate::host::Machine;

/// The checkpoints of a working directory.
pub struct Rollback {
    kept: Arc<HomeCheckpoints>,
    place: Place,
    /// What going back is kept under.
    name: String,
}

/// Why it is not possible to go back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RollbackError {
    /// No checkpoint has this id.
    #[error("no checkpoint `{0}` for this directory")]
    Unknown(String),
    /// Several checkpoints begin so.
    #[error("`{0}` is the beginning of several ids; write more of it")]
    Unclear(String),
    /// The checkpoint has nothing of this file.
    #[error("{} was not changed since that checkpoint", .0.display())]
    NotInIt(PathBuf),
    /// The state folder could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What going back did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Files that have their old content again.
    pub restored: Vec<PathBuf>,
    /// Files that are gone, because they did not exist then.
    pub removed: Vec<PathBuf>,
    /// Files that were as they had been.
    pub unchanged: Vec<PathBuf>,
    /// The checkpoint that undoes this, unless nothing was changed.
    pub undo: Option<String>,
}

/// One file, as it is and as it was.
struct Step {
    path: PathBuf,
    now: Option<WholeFile>,
    then: Option<Content>,
}

impl Step {
    fn same(&self) -> bool {
        self.now.as_ref().map(|now| &now.bytes) == self.then.as_ref().map(|then| &then.bytes)
    }
}

impl Rollback {
    pub(crate) fn new(kept: Arc<HomeCheckpoints>, place: Place, name: String) -> Self {
        Self { kept, place, name }
    }

    /// The checkpoints, newest first.
    pub fn list(&self) -> Result<Vec<Checkpoint>, RollbackError> {
        Ok(self.kept.store.list(&self.place.cwd)?)
    }

    /// How long ago a checkpoint was made.
    pub fn age(&self, checkpoint: &Checkpoint) -> Duration {
        let made = UNIX_EPOCH + Duration::from_secs(checkpoint.at);
        Machine::wall().duration_since(made).unwrap_or_default()
    }

    /// What going back would change, as a unified diff from how files are to how they would be.
    pub fn diff(&self, id: &str, file: Option<&str>) -> Result<String, RollbackError> {
        let mut text = String::new();
        for step in self.steps(id, file)? {
            if step.same() {
                continue;
            }
            let name = step.path.strip_prefix(&self.place.cwd).unwrap_or(&step.path).display().to_string();
            let side = |there: bool, sign: &str| {
                if there { format!("{sign}/{name}") } else { "/dev/null".to_owned() }
            };
            let (old, new) = (side(step.now.is_some(), "a"), side(step.then.is_some(), "b"));
            let now = String::from_utf8(step.now.map(|now| now.bytes).unwrap_or_default());
            let then = String::from_utf8(step.then.map(|then| then.bytes).unwrap_or_default());
            match (now, then) {
                (Ok(now), Ok(then)) => text.push_str(&hermes_tools::diff::unified(&old, &new, &now, &then)),
                // Writing into a string cannot fail.
                _ => drop(writeln!(text, "Binary files {old} and {new} differ")),
            }
        }
        Ok(text)
    }

    /// Goes back, with all files or with one.
    pub fn restore(&self, id: &str, file: Option<&str>) -> Result<Restored, RollbackError> {
        let mut done = Restored::default();
        let mut files = Vec::new();
        let mut before = Vec::new();
        for step in self.steps(id, file)? {
            if step.same() {
                done.unchanged.push(step.path);
                continue;
            }
            let list = if step.then.is_some() { &mut done.restored } else { &mut done.removed };
            list.push(step.path.clone());
            let state = match step.now {
                Some(WholeFile { bytes, mode, .. }) => State::File { bytes, mode },
                None => State::Absent,
            };
            before.push(Before { path: step.path.clone(), state });
            files.push((step.path, step.then));
        }
        if !files.is_empty() {
            let session = format!("rollback-{}", self.name);
            let moment = Moment { session: &session, turn: 0, cwd: &self.place.cwd, tool: "rollback" };
            done.undo = Some(self.kept.store.keep(&moment, &before, Machine::wall())?);
            hermes_env::files::put_back(files)?;
        }
        Ok(done)
    }

    fn steps(&self, id: &str, file: Option<&str>) -> Result<Vec<Step>, RollbackError> {
        let file = file.map(|file| lexical(file, &self.place.cwd, self.place.home.as_deref()));
        let mut seen = BTreeSet::new();
        let mut steps = Vec::new();
        // From the checkpoint to the newest: the first content of each path is the one to go back to.
        for Kept { path, before } in self.since(id)?.into_iter().flat_map(|checkpoint| checkpoint.files) {
            let wanted = file.as_ref().is_none_or(|file| *file == path || real(file) == path);
            if !wanted || !seen.insert(path.clone()) {
                continue;
            }
            let then = match before {
                None => None,
                Some(object) => Some(Content { bytes: self.kept.store.content(&object)?, mode: object.mode }),
            };
            let now = hermes_env::files::look(&path, u64::MAX)?;
            steps.push(Step { path, now, then });
        }
        match file {
            Some(file) if steps.is_empty() => Err(RollbackError::NotInIt(file)),
            _ => Ok(steps),
        }
    }

    /// A checkpoint and all newer ones, oldest first. The id may be cut short, or be a place in the
    /// list: 1 is the newest.
    fn since(&self, id: &str) -> Result<Vec<Checkpoint>, RollbackError> {
        let list = self.list()?;
        let place = id.parse::<usize>().ok().filter(|place| (1..=list.len()).contains(place) && id.len() < 4);
        let at = match (place, known(&list, id).as_slice()) {
            (Some(place), _) => place - 1,
            (None, [only]) if !id.is_empty() => *only,
            (None, [] | [_]) => return Err(RollbackError::Unknown(id.to_owned())),
            (None, _) => return Err(RollbackError::Unclear(id.to_owned())),
        };
        Ok(list.into_iter().take(at + 1).rev().collect())
    }
}

fn real(path: &Path) -> PathBuf {
    hermes_env::files::real_path(path)
}

/// The places of checkpoints whose id begins so.
fn known(list: &[Checkpoint], id: &str) -> Vec<usize> {
    (0..).zip(list).filter(|(_, checkpoint)| checkpoint.id.starts_with(id)).map(|(at, _)| at).collect()
}
