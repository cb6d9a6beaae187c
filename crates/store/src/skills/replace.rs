//! Takes a skill out of its place, alone or with another one put there, so that a process that is killed on the
//! way leaves the old or the new one in place.
//!
//! Where the disk lets two folders swap their names, they do. Elsewhere the new one waits, whole, in a folder that
//! says where it goes, while the old one is moved; whoever looks for skills next brings it there. There are disks
//! on which a folder cannot even be moved, as one in a container that came with its image: there the old one is
//! copied, and then removed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_core::skills::{SKILL_FILE, SkillError};

use super::find;
use super::view::store;
use crate::beneath::Beneath;
use crate::disk::{self, Lock};
use crate::error::StoreError;
use crate::sessions::Moment;

/// Where skills go that are taken away.
const ARCHIVE: &str = ".archive";
/// Where a whole skill waits, below it the path that it goes to.
const READY: &str = ".ready";
/// The same for one whose place holds only what remains of an old one that was copied.
const TAKING: &str = ".taking";
/// What is locked for all changes, in the folder of all skills.
const LOCKED: &str = "skills";
/// How many names are tried for a skill that is put aside.
const MAX_TRIES: u32 = 100;

/// The lock that all changes of skills share, once what a killed process left is brought to an end.
pub(super) fn lock(skills: &Path) -> Result<Lock, SkillError> {
    let lock = disk::lock(&skills.join(LOCKED)).map_err(store)?;
    finish(skills);
    Ok(lock)
}

/// Brings to an end what a killed process left, unless somebody is at work there.
pub(super) fn settle(skills: &Path) {
    if ![READY, TAKING].iter().any(|waits| disk::is_there(&skills.join(waits))) {
        return;
    }
    if let Ok(Some(_lock)) = disk::try_lock_beside(&skills.join(LOCKED)) {
        finish(skills);
    }
}

/// Moves a skill out of the way; gives where it is kept.
pub(super) fn put_aside(root: &Beneath, folder: &Path, now: SystemTime) -> Result<String, SkillError> {
    let kept = free_name(root, folder, now)?;
    match root.rename(folder, &kept) {
        Err(wrong) if cannot_move(&wrong) => {
            root.copy(folder, &kept).and_then(|()| take_out(root, folder)).map_err(store)?;
        }
        moved => moved.map_err(store)?,
    }
    tidy(root, folder);
    Ok(kept.display().to_string())
}

/// Puts a skill in the place of an old one, then where it is to go; gives where the old one is kept.
pub(super) fn replace(
    root: &Beneath,
    new: &Path,
    (old, folder): (&Path, &Path),
    now: SystemTime,
) -> Result<String, SkillError> {
    let kept = free_name(root, old, now)?;
    // They swap where the old one stays, so that no step is left after that one.
    root.rename(new, &kept).map_err(store)?;
    match root.exchange(&kept, old) {
        Ok(true) => {}
        Ok(false) => in_steps(root, &kept, old).map_err(store)?,
        Err(wrong) if cannot_move(&wrong) => by_copy(root, &kept, old).map_err(store)?,
        Err(wrong) => {
            let _ = root.remove_all(&kept);
            return Err(store(wrong));
        }
    }
    if old != folder {
        root.rename(old, folder).map_err(store)?;
        tidy(root, old);
    }
    Ok(kept.display().to_string())
}

/// The same where a disk cannot swap: `kept` is the new one, and the old one afterwards.
fn in_steps(root: &Beneath, kept: &Path, old: &Path) -> Result<(), StoreError> {
    let ready = Path::new(READY).join(old);
    root.rename(kept, &ready)?;
    let done = root.rename(old, kept).and_then(|()| root.rename(&ready, old));
    if done.is_err() {
        // The old one goes back if it has gone; where it cannot, the new one is still needed.
        let _ = root.rename(kept, old);
        if root.look(old).is_some() {
            let _ = root.remove_all(&ready);
        }
    }
    tidy(root, &ready);
    done
}

/// The same where a disk cannot move the old one.
fn by_copy(root: &Beneath, kept: &Path, old: &Path) -> Result<(), StoreError> {
    let ready = Path::new(READY).join(old);
    let taking = Path::new(TAKING).join(old);
    root.rename(kept, &ready)?;
    // Until the old one is copied, whole, the new one is not needed.
    let copied = root.copy(old, kept).and_then(|()| root.rename(&ready, &taking));
    if copied.is_err() {
        let _ = root.remove_all(&ready);
    }
    tidy(root, &ready);
    copied?;
    // What goes wrong from here on is tried again by whoever looks next.
    let done = take_out(root, old).and_then(|()| root.rename(&taking, old));
    tidy(root, &taking);
    done
}

/// Removes a skill that was copied. It is none as soon as the first of its files is gone.
fn take_out(root: &Beneath, folder: &Path) -> Result<(), StoreError> {
    root.remove(&folder.join(SKILL_FILE))?;
    root.remove_all(folder)
}

/// Whether a disk says that it cannot move a folder.
fn cannot_move(wrong: &StoreError) -> bool {
    matches!(wrong, StoreError::Io { source, .. } if source.kind() == ErrorKind::CrossesDevices)
}

/// Brings skills that wait to where they go. Where something is by now, they are not needed any more.
fn finish(skills: &Path) {
    let Ok(Some(root)) = Beneath::open(skills) else { return };
    for taking in skills_in(&root, Path::new(TAKING), 0) {
        let Ok(place) = taking.strip_prefix(TAKING) else { continue };
        let _ = if skills_in(&root, place, place.components().count()).is_empty() {
            // What cannot be done now is tried again by whoever looks next.
            take_out(&root, place).and_then(|()| root.rename(&taking, place))
        } else {
            root.remove_all(&taking)
        };
        tidy(&root, &taking);
    }
    for ready in skills_in(&root, Path::new(READY), 0) {
        let Ok(place) = ready.strip_prefix(READY) else { continue };
        let moved = root.rename(&ready, place).is_ok();
        if !moved && root.look(place).is_some() {
            let _ = root.remove_all(&ready);
        }
        tidy(&root, &ready);
    }
}

/// The skills in a folder that lies so deep, or the folder itself if it is one.
fn skills_in(root: &Beneath, folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    find::walk(root, folder, depth, &mut |skill| found.push(skill.to_owned()));
    found
}

/// A name in the archive that nothing has.
fn free_name(root: &Beneath, folder: &Path, now: SystemTime) -> Result<PathBuf, SkillError> {
    let last = folder.file_name().unwrap_or_default().to_string_lossy();
    let stamp = Moment::from(now).stamp();
    let name = |number: u32| match number {
        1 => format!("{last}-{stamp}"),
        _ => format!("{last}-{stamp}-{number}"),
    };
    let mut names = (1..=MAX_TRIES).map(|number| Path::new(ARCHIVE).join(name(number)));
    let free = names.find(|kept| root.look(kept).is_none());
    free.ok_or_else(|| SkillError::Store("there is no free name in the archive".to_owned()))
}

/// Removes the folders that a skill was in, as far as nothing else is in them.
fn tidy(root: &Beneath, folder: &Path) {
    let above = folder.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    for folder in above {
        if !root.remove_if_empty(folder) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_disk_that_cannot_swap_the_new_one_takes_the_place_in_steps() {
        let dir = tempfile::tempdir().unwrap();
        let root = Beneath::open(dir.path()).unwrap().unwrap();
        let (kept, old) = (Path::new(".archive/tea-1"), Path::new("kitchen/tea"));
        root.write(&kept.join("SKILL.md"), b"new", false).unwrap();
        root.write(&old.join("SKILL.md"), b"old", false).unwrap();

        in_steps(&root, kept, old).unwrap();

        let says = |folder: &Path| root.text(&folder.join("SKILL.md"), 9).unwrap();
        assert_eq!((says(old).as_deref(), says(kept).as_deref()), (Some("new"), Some("old")));
        assert!(root.look(Path::new(READY)).is_none());
    }

    /// A folder with an old skill and a new one that is on its way into the archive.
    fn two_skills() -> (tempfile::TempDir, Beneath, &'static Path, &'static Path) {
        let dir = tempfile::tempdir().unwrap();
        let root = Beneath::open(dir.path()).unwrap().unwrap();
        let (kept, old) = (Path::new(".archive/tea-1"), Path::new("kitchen/tea"));
        root.write(&kept.join("SKILL.md"), b"new", false).unwrap();
        root.write(&old.join("SKILL.md"), b"old", false).unwrap();
        root.write(&old.join("scripts/run"), b"#!", true).unwrap();
        (dir, root, kept, old)
    }

    /// What a skill says, and whether its program is there and can be run.
    fn says(root: &Beneath, folder: &Path) -> (Option<String>, Option<bool>) {
        let text = root.text(&folder.join("SKILL.md"), 9).unwrap();
        (text, root.look(&folder.join("scripts/run")).map(|item| item.runs))
    }

    #[test]
    fn on_a_disk_that_cannot_move_the_old_one_is_copied_whole_and_then_removed() {
        let (_dir, root, kept, old) = two_skills();

        by_copy(&root, kept, old).unwrap();

        assert_eq!(says(&root, old), (Some("new".to_owned()), None));
        assert_eq!(says(&root, kept), (Some("old".to_owned()), Some(true)));
        assert!(root.look(Path::new(READY)).is_none() && root.look(Path::new(TAKING)).is_none());
    }

    #[test]
    fn what_was_killed_while_the_old_one_was_removed_is_brought_to_its_end() {
        let (dir, root, kept, old) = two_skills();
        root.rename(kept, &Path::new(TAKING).join(old)).unwrap();
        root.remove(&old.join("SKILL.md")).unwrap();

        settle(dir.path());

        assert_eq!(says(&root, old), (Some("new".to_owned()), None));
        assert!(root.look(Path::new(TAKING)).is_none());
    }

    #[test]
    fn what_was_killed_before_the_old_one_was_touched_leaves_it_in_place() {
        for place in ["kitchen/tea", "kitchen"] {
            let (dir, root, kept, old) = two_skills();
            root.rename(kept, &Path::new(TAKING).join(place)).unwrap();

            settle(dir.path());

            assert_eq!(says(&root, old), (Some("old".to_owned()), Some(true)), "{place}");
            assert!(root.look(Path::new(TAKING)).is_none());
        }
    }
}
