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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::super::whole::read_whole;
    use super::*;

    fn put(path: &Path, text: &str, expect: Expect) -> Act {
        Act::Put { path: path.to_path_buf(), content: text.as_bytes().to_vec().into(), expect }
    }

    fn one_put(path: &Path, text: &str, expect: Expect) -> Result<Changed, FileError> {
        change([put(path, text, expect)]).map(|mut done| done.changed.remove(0))
    }

    fn count(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_link_at_any_place_of_the_path_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/file"), "precious").unwrap();
        symlink("real", at("folder")).unwrap();
        symlink("real/file", at("link")).unwrap();

        assert_eq!(one_put(&at("link"), "x", Expect::Anything), Err(FileError::ChangedMeanwhile(at("link"))));
        assert!(one_put(&at("folder/file"), "x", Expect::Anything).is_err());
        assert!(one_put(&at("folder/new"), "x", Expect::Anything).is_err());
        assert!(change([Act::Remove { path: at("link"), expect: Expect::Anything }]).is_err());
        assert!(read_whole(&at("folder/file"), 100).is_err());
        assert_eq!(fs::read_to_string(at("real/file")).unwrap(), "precious");
        assert_eq!((count(dir.path()), count(&at("real"))), (3, 1));
    }

    #[test]
    fn only_the_file_that_was_seen_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "one").unwrap();
        let seen = read_whole(&path, 10).unwrap();
        assert_eq!((seen.bytes.as_slice(), seen.mode.map(|mode| mode & 0o600)), (&b"one"[..], Some(0o600)));

        let now = one_put(&path, "two", Expect::Is(seen.stamp)).unwrap();
        assert_eq!(
            one_put(&path, "three", Expect::Is(seen.stamp)),
            Err(FileError::ChangedMeanwhile(path.clone()))
        );
        assert_eq!(one_put(&path, "three", Expect::Absent), Err(FileError::Exists(path.clone())));
        assert_eq!(read_whole(&path, 10).unwrap().stamp, now.stamp.unwrap());
        assert!(matches!(read_whole(&path, 2), Err(FileError::TooLarge { size: 3, limit: 2, .. })));
        assert_eq!(count(dir.path()), 1);
    }

    #[test]
    fn owner_and_special_bits_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "one").unwrap();
        // Only root may give files away; for anybody else the owner stays by itself.
        let given = chown(&path, Some(4321), Some(4321)).is_ok();
        fs::set_permissions(&path, Permissions::from_mode(0o2755)).unwrap();

        one_put(&path, "two", Expect::Anything).unwrap();

        let now = fs::metadata(&path).unwrap();
        assert_eq!((now.mode() & 0o7777, now.uid() == 4321), (0o2755, given));
    }

    #[test]
    fn a_file_with_two_names_is_written_as_it_is_also_when_it_gets_shorter() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        fs::write(&one, "a longer text").unwrap();
        fs::hard_link(&one, &two).unwrap();

        one_put(&two, "short", Expect::Anything).unwrap();

        assert_eq!(fs::read_to_string(&one).unwrap(), "short");
        assert_eq!(fs::metadata(&one).unwrap().nlink(), 2);
    }

    #[test]
    fn what_was_done_before_a_failure_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "b").unwrap();
        fs::write(at("c"), "c").unwrap();
        fs::set_permissions(at("b"), Permissions::from_mode(0o640)).unwrap();

        let failed = change([
            put(&at("a"), "A", Expect::Anything),
            put(&at("x/y/new"), "n", Expect::Absent),
            Act::Remove { path: at("b"), expect: Expect::Anything },
            Act::Move { from: at("c"), to: at("z/d"), expect: Expect::Anything },
            put(&at("z/d"), "changed", Expect::Anything),
            put(&at("a/below"), "no", Expect::Anything),
        ]);

        assert!(matches!(failed.err(), Some(FileError::Unwritable { .. })));
        let text = |name: &str| fs::read_to_string(at(name)).unwrap();
        assert_eq!((text("a"), text("b"), text("c")), ("a".to_owned(), "b".to_owned(), "c".to_owned()));
        assert_eq!((fs::metadata(at("b")).unwrap().mode() & 0o777, count(dir.path())), (0o640, 3));
    }

    #[test]
    fn nothing_is_moved_onto_something() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        fs::write(&one, "1").unwrap();
        fs::write(&two, "2").unwrap();

        let moved = change([Act::Move { from: one.clone(), to: two.clone(), expect: Expect::Anything }]);

        assert_eq!(moved.err(), Some(FileError::Exists(two.clone())));
        assert_eq!(
            (fs::read_to_string(one).unwrap(), fs::read_to_string(two).unwrap()),
            ("1".into(), "2".into())
        );
    }
}
