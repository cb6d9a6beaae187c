//! All of several changes, or none of them.
//!
//! Changes are made in order. When one fails, those before it are taken back, last first, from
//! what the files held.

use std::fs::File;
use std::path::{Path, PathBuf};

use hermes_core::files::{Change, Changed, Content, Expect, FileError, WholeFile};

use super::open::refuse_special;
use super::spot::{Missing, Spot, stamp};
use super::whole::read_spot;
use super::write::{check, put};

/// What was done, and the files that still have to reach the disk.
pub(super) struct Done {
    pub(super) changed: Vec<Changed>,
    pub(super) unsynced: Vec<File>,
}

/// One change, by path: what a permitted change comes to.
pub(super) enum Act {
    Put { path: PathBuf, content: Content, expect: Expect },
    Remove { path: PathBuf, expect: Expect },
    Move { from: PathBuf, to: PathBuf, expect: Expect },
}

impl From<Change> for Act {
    fn from(change: Change) -> Self {
        match change {
            Change::Put { permit, content, expect } => {
                Self::Put { path: permit.path().into(), content, expect }
            }
            Change::Remove { permit, expect } => Self::Remove { path: permit.path().into(), expect },
            Change::Move { from, to, expect } => {
                Self::Move { from: from.path().into(), to: to.path().into(), expect }
            }
        }
    }
}

/// Makes all changes or none.
pub(super) fn change(acts: impl IntoIterator<Item = Act>) -> Result<Done, FileError> {
    let acts: Vec<Act> = acts.into_iter().collect();
    let keep = if acts.len() > 1 { Keep::Old } else { Keep::Nothing };
    let mut done = Done { changed: Vec::with_capacity(acts.len()), unsynced: Vec::new() };
    let mut back = Vec::new();
    for act in acts {
        match one(act, keep, &mut done) {
            Ok(undo) => back.push(undo),
            Err(cause) => return Err(taken_back(back, cause)),
        }
    }
    Ok(done)
}

/// Whether the old content may still be needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Old,
    Nothing,
}

/// How a change is taken back.
struct Undo {
    spot: Spot,
    how: How,
}

enum How {
    /// Remove what was made.
    Remove,
    /// Put this back.
    Restore(WholeFile),
    /// Give the file its old name again.
    Rename(Spot),
    /// Nothing comes after it that could fail.
    Never,
}

fn one(act: Act, keep: Keep, done: &mut Done) -> Result<Undo, FileError> {
    match act {
        Act::Put { path, content, expect } => {
            let spot = spot(&path, Missing::Make)?;
            let how = undo_content(&spot, keep)?;
            let written = put(&spot, &content, expect).inspect_err(|_| remove_folders(&spot.made))?;
            done.unsynced.extend(written.unsynced);
            done.changed.push(Changed {
                path: spot.path.clone(),
                stamp: Some(written.stamp),
                dirs_created: !spot.made.is_empty(),
            });
            Ok(Undo { spot, how })
        }
        Act::Remove { path, expect } => {
            let spot = spot(&path, Missing::Leave)?;
            must_be_there(&spot, expect)?;
            let how = undo_content(&spot, keep)?;
            spot.unlink().map_err(|error| spot.unwritable(&error))?;
            done.changed.push(Changed { path: spot.path.clone(), stamp: None, dirs_created: false });
            Ok(Undo { spot, how })
        }
        Act::Move { from, to, expect } => {
            let from = spot(&from, Missing::Leave)?;
            let metadata = must_be_there(&from, expect)?;
            let to = spot(&to, Missing::Make)?;
            if let Err(error) = from.rename(&to) {
                remove_folders(&to.made);
                return Err(to.unwritable(&error));
            }
            done.unsynced.extend(to.folder_to_sync().ok());
            done.changed.push(Changed {
                path: to.path.clone(),
                stamp: Some(stamp(&metadata)),
                dirs_created: !to.made.is_empty(),
            });
            Ok(Undo { spot: to, how: How::Rename(from) })
        }
    }
}

fn spot(path: &Path, missing: Missing) -> Result<Spot, FileError> {
    refuse_special(path)?;
    Spot::of(path, missing)
}

fn must_be_there(spot: &Spot, expect: Expect) -> Result<std::fs::Metadata, FileError> {
    let missing = || FileError::Missing { path: spot.path.clone(), similar: Vec::new() };
    check(spot, expect)?.ok_or_else(missing)
}

fn undo_content(spot: &Spot, keep: Keep) -> Result<How, FileError> {
    if keep == Keep::Nothing {
        return Ok(How::Never);
    }
    match spot.look()? {
        None => Ok(How::Remove),
        Some(_) => Ok(How::Restore(read_spot(spot, u64::MAX)?)),
    }
}

/// Takes changes back, last first; the error says what could not be.
fn taken_back(back: Vec<Undo>, cause: FileError) -> FileError {
    let mut left = Vec::new();
    for Undo { spot, how } in back.into_iter().rev() {
        let undone = match how {
            How::Never => Ok(()),
            How::Remove => spot.unlink().map_err(|error| error.to_string()),
            How::Rename(old) => spot.rename(&old).map_err(|error| error.to_string()),
            How::Restore(WholeFile { bytes, mode, .. }) => {
                let put = put(&spot, &Content { bytes, mode }, Expect::Anything);
                put.map(drop).map_err(|error| error.to_string())
            }
        };
        if let Err(why) = undone {
            left.push(format!("{} ({why})", spot.path.display()));
        }
        remove_folders(&spot.made);
    }
    if left.is_empty() { cause } else { FileError::HalfDone { cause: Box::new(cause), left } }
}

/// Removes folders that were made and are still empty, innermost first.
fn remove_folders(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        // One that is not empty by now belongs to somebody else.
        let _ = std::fs::remove_dir(folder);
    }
}
