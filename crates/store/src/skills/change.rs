//! Changes to the skills of the home: each whole or not at all, under a lock that all processes share.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_core::skills::{Changed, LINKED_FOLDERS, Origin, SKILL_FILE, SkillChange, SkillError};
use hermes_core::threat::scan;

use super::find::{Found, MAX_BYTES};
use super::place::{checked_category, freed};
use super::replace::{self, put_aside};
use super::usage::{self, Happened};
use super::view::{A_FOLDER, MAX_LINKED, store};
use super::{Inner, front, names};
use crate::beneath::{Beneath, ItemKind};
use crate::disk;
use crate::error::StoreError;

/// Where a skill is put together before it gets its name.
pub(super) const INCOMING: &str = ".incoming";
/// Why a pinned skill stays as it is.
pub(super) const PINNED: &str = "is pinned; a person can let it go with `hermes skills unpin`";

impl Inner {
    /// Where a change of this skill would write, from the folder of all skills on.
    pub(super) fn target(&self, name: &str, category: Option<&str>) -> PathBuf {
        if let Some(found) = self.own_skills().into_iter().find(|found| found.answers_to(name)) {
            return found.folder;
        }
        match category {
            _ if !names::is_name(name) => PathBuf::new(),
            Some(category) if names::is_name(category) => Path::new(category).join(name),
            _ => PathBuf::from(name),
        }
    }

    /// Makes a change; `allowed` is what may be written, links resolved.
    pub(super) fn change(
        &self,
        allowed: &Path,
        change: &SkillChange,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        disk::make_private_folder(&self.home).map_err(store)?;
        let _lock = replace::lock(&self.home)?;
        let root = Beneath::open(&self.home).map_err(store)?;
        let root = root.ok_or_else(|| SkillError::Store("the skills folder is gone".to_owned()))?;
        let category = match change {
            SkillChange::Create { category, .. } => category.as_deref(),
            _ => None,
        };
        let whole = disk::real(&self.home).join(self.target(change.name(), category));
        if !whole.starts_with(allowed) {
            return Err(SkillError::NotAllowed(whole.display().to_string()));
        }
        match change {
            SkillChange::Create { name, category, text } => {
                self.create(&root, (name, category.as_deref()), text, now)
            }
            SkillChange::Rewrite { name, file, text, before } => {
                self.rewrite(&root, name, (file.as_deref(), before.as_deref()), text, now)
            }
            SkillChange::Delete { name, absorbed_into } => {
                self.delete(&root, name, absorbed_into.as_deref(), now)
            }
            SkillChange::WriteFile { name, file, text } => self.write_file(&root, name, file, text, now),
            SkillChange::RemoveFile { name, file } => self.remove_file(&root, name, file, now),
        }
    }

    fn create(
        &self,
        root: &Beneath,
        (name, category): (&str, Option<&str>),
        text: &str,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        names::checked("skill", name)?;
        checked_category(root, category)?;
        front::validated(name, text)?;
        if let Some(known) = self.found().into_iter().find(|found| found.answers_to(name)) {
            let path = known.place().display().to_string();
            return Err(match known.skill.origin {
                Origin::Home => SkillError::Exists { name: name.to_owned(), path },
                _ => SkillError::Invalid(format!(
                    "there is a skill `{name}` already, in {path}, which is not yours to change; take another name"
                )),
            });
        }
        let folder = category.map_or_else(|| PathBuf::from(name), |category| Path::new(category).join(name));
        freed(root, &folder)?;
        let below = folder.join(SKILL_FILE);
        self.noted(root, &below, (name, Happened::Created, now), || {
            let incoming = Path::new(INCOMING).join(name);
            root.remove_all(&incoming).map_err(store)?;
            let made = root.write(&incoming.join(SKILL_FILE), text.as_bytes(), false);
            let made = made.map_err(store).and_then(|()| {
                let moved = root.rename(&incoming, &folder);
                moved.map_err(|wrong| refused(root, &below, Path::new(SKILL_FILE), wrong))
            });
            // Whatever came of it, nothing half-done stays; what cannot be removed is overwritten next time.
            let _ = root.remove_all(&incoming);
            root.remove_if_empty(Path::new(INCOMING));
            made
        })?;
        Ok(Changed { path: folder.display().to_string(), file: Some(self.home.join(below)) })
    }

    fn rewrite(
        &self,
        root: &Beneath,
        name: &str,
        (file, before): (Option<&str>, Option<&str>),
        text: &str,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        let found = self.own(name)?;
        let path = if let Some(file) = file.filter(|file| *file != SKILL_FILE) {
            checked_file(file, text)?;
            names::linked(file)?
        } else {
            let named = found.front.name.as_deref().unwrap_or(&found.skill.name);
            front::validated(named, text)?;
            PathBuf::from(SKILL_FILE)
        };
        let now_there = root.text(&found.folder.join(&path), MAX_BYTES).map_err(store)?;
        match (now_there, before) {
            (None, _) => {
                let file = path.display().to_string();
                let skill = found.skill.name;
                return Err(SkillError::NoFile { skill, file, there: Vec::new(), more: 0 });
            }
            (Some(there), Some(before)) if there != before => {
                return Err(SkillError::Stale(path.display().to_string()));
            }
            _ => {}
        }
        let note = (found.skill.name.as_str(), Happened::Changed, now);
        self.noted(root, &found.folder.join(&path), note, || self.written(root, &found.folder, &path, text))
    }

    fn delete(
        &self,
        root: &Beneath,
        name: &str,
        absorbed_into: Option<&str>,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        let found = self.own(name)?;
        if let Some(other) = absorbed_into.filter(|other| !other.trim().is_empty()) {
            let into = self.one(other)?;
            if into.place() == found.place() {
                return Err(SkillError::Invalid(format!("`{name}` cannot be absorbed into itself")));
            }
        }
        let note = (found.skill.name.as_str(), Happened::Deleted, now);
        let path =
            self.noted(root, &found.folder.join(SKILL_FILE), note, || put_aside(root, &found.folder, now))?;
        Ok(Changed { path, file: None })
    }

    fn write_file(
        &self,
        root: &Beneath,
        name: &str,
        file: &str,
        text: &str,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        let found = self.own(name)?;
        let path = names::linked(file)?;
        checked_file(file, text)?;
        let note = (found.skill.name.as_str(), Happened::Changed, now);
        self.noted(root, &found.folder.join(&path), note, || self.written(root, &found.folder, &path, text))
    }

    fn remove_file(
        &self,
        root: &Beneath,
        name: &str,
        file: &str,
        now: SystemTime,
    ) -> Result<Changed, SkillError> {
        let found = self.own(name)?;
        let path = names::linked(file)?;
        if root.look(&found.folder.join(&path)).is_some_and(|item| item.kind == ItemKind::Folder) {
            return Err(SkillError::Path { file: file.to_owned(), why: A_FOLDER });
        }
        let whole = found.folder.join(&path);
        if root.look(&whole).is_none() {
            let view = super::view::view(&found, None, None)?;
            let of_ours = view.linked.into_iter().filter(|(folder, _)| LINKED_FOLDERS.contains(folder));
            let there = of_ours.flat_map(|(_, files)| files).collect();
            let (skill, file) = (found.skill.name, file.to_owned());
            return Err(SkillError::NoFile { skill, file, there, more: view.more });
        }
        let note = (found.skill.name.as_str(), Happened::Changed, now);
        self.noted(root, &whole, note, || root.remove(&whole).map_err(store))?;
        let mut above = path.parent();
        while let Some(folder) = above.filter(|folder| !folder.as_os_str().is_empty()) {
            if !root.remove_if_empty(&found.folder.join(folder)) {
                break;
            }
            above = folder.parent();
        }
        Ok(Changed { path: found.folder.display().to_string(), file: Some(found.place().join(path)) })
    }

    /// The skill of the home that a name means, if it may be changed.
    pub(super) fn own(&self, name: &str) -> Result<Found, SkillError> {
        let found = self.one(name)?;
        let refuse = |why| Err(SkillError::ReadOnly { name: found.skill.name.clone(), why });
        match found.skill.origin {
            Origin::Home if usage::is_pinned(&self.home, &found.skill.name)? => refuse(PINNED),
            Origin::Home => Ok(found),
            Origin::Project => refuse("belongs to the project; change its files there"),
            Origin::External => refuse("lies in a folder of `skills.external_dirs`"),
            Origin::Plugin(_) => refuse("belongs to a plugin"),
        }
    }

    /// Notes what is about to happen, then does it: an agent's work never goes unnoted, whenever the process dies.
    /// The note is taken back when nothing came of it, which the file shows.
    pub(super) fn noted<T>(
        &self,
        root: &Beneath,
        file: &Path,
        (name, happened, now): (&str, Happened, SystemTime),
        work: impl FnOnce() -> Result<T, SkillError>,
    ) -> Result<T, SkillError> {
        let there = || root.read(file, MAX_LINKED.max(MAX_BYTES)).ok();
        let was = there();
        let before = usage::note(&self.home, name, happened, now)?;
        let done = work();
        if done.is_err() && there() == was {
            usage::take_back(&self.home, before);
        }
        done
    }

    fn written(&self, root: &Beneath, folder: &Path, file: &Path, text: &str) -> Result<Changed, SkillError> {
        let below = folder.join(file);
        root.write(&below, text.as_bytes(), false).map_err(|wrong| refused(root, &below, file, wrong))?;
        Ok(Changed { path: folder.display().to_string(), file: Some(self.home.join(below)) })
    }
}

/// Why a file could not be written, in the words of skills.
fn refused(root: &Beneath, below: &Path, file: &Path, wrong: StoreError) -> SkillError {
    match &wrong {
        StoreError::Io { source, .. } if is_in_the_way(source) => {
            let is_link = |part: &Path| root.look(part).is_some_and(|item| item.kind == ItemKind::Link);
            let why = if below.ancestors().any(is_link) {
                "a link stands in its way, which may lead out of the skill"
            } else {
                "a file or a folder stands in its way"
            };
            SkillError::Path { file: file.display().to_string(), why }
        }
        _ => store(wrong),
    }
}

/// Whether something stood where a file, or a folder on the way to it, was to be.
fn is_in_the_way(wrong: &std::io::Error) -> bool {
    matches!(wrong.kind(), std::io::ErrorKind::NotADirectory | std::io::ErrorKind::InvalidInput)
        || wrong.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Holds the text of a linked file to the rules.
fn checked_file(file: &str, text: &str) -> Result<(), SkillError> {
    if text.len() as u64 > MAX_LINKED {
        return Err(SkillError::Invalid(format!("`{file}` would be larger than {MAX_LINKED} bytes")));
    }
    scan(text).map_or(Ok(()), |threat| Err(SkillError::Threat(threat)))
}
