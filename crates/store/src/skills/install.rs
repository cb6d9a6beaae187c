//! What people do with skills from the command line: install, remove, pin, trust. For code that
//! just waits.

use std::path::{Path, PathBuf};

use hermes_core::skills::{Origin, SKILL_FILE, SkillError};

use super::change::{INCOMING, PINNED};
use super::place::{checked_category, freed};
use super::replace::{self, put_aside};
use super::roots::Root;
use super::trust::{self, Accepted};
use super::usage::{Happened, Pin};
use super::view::{MAX_LINKED, store, threat};
use super::{HomeSkills, Inner, find, front, names, usage};
use crate::beneath::{Beneath, ItemKind, is_hidden};
use crate::disk;

/// Most files of a skill, and most bytes of all together.
const MAX_FILES: usize = 500;
const MAX_ALL: u64 = 16 * 1024 * 1024;
const MAX_DEPTH: usize = 8;

/// A skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// Where the one before it is kept.
    pub replaced: Option<String>,
}

/// A file on its way in.
struct Incoming {
    path: PathBuf,
    bytes: Vec<u8>,
    runs: bool,
}

impl HomeSkills {
    /// Copies a skill into the home. Text that looks hostile is refused, and a skill of that name is
    /// left alone, unless `force`; the one before is then kept aside. A pinned one stays in any case.
    pub fn install(
        &self,
        source: &Path,
        category: Option<&str>,
        force: bool,
    ) -> Result<Installed, SkillError> {
        let inner = &self.inner;
        let from = Beneath::open(source).map_err(store)?;
        let from =
            from.ok_or_else(|| SkillError::Invalid(format!("{} is not a folder", source.display())))?;
        let (name, files) = read(&from, source, force)?;
        disk::make_private_folder(&inner.home).map_err(store)?;
        let _lock = replace::lock(&inner.home)?;
        let root = Beneath::open(&inner.home).map_err(store)?;
        let root = root.ok_or_else(|| SkillError::Store("the skills folder is gone".to_owned()))?;
        checked_category(&root, category)?;
        let folder = match category {
            Some(category) => Path::new(category).join(&name),
            None => inner.beside_its_like(&name),
        };
        let incoming = Path::new(INCOMING).join(&name);
        root.remove_all(&incoming).map_err(store)?;
        let made =
            files.iter().try_for_each(|file| root.write(&incoming.join(&file.path), &file.bytes, file.runs));
        let done = made.map_err(store).and_then(|()| {
            let old = inner.free_place(&root, &name, &folder, force)?;
            match old {
                Some(old) => replace::replace(&root, &incoming, (&old, &folder), self.clock.now()).map(Some),
                None => root.rename(&incoming, &folder).map(|()| None).map_err(store),
            }
        });
        // Whatever came of it, nothing half-done stays; what cannot be removed is overwritten next time.
        let _ = root.remove_all(&incoming);
        root.remove_if_empty(Path::new(INCOMING));
        let replaced = done?;
        // Noted after it is there: what stood there before must not count as the person's. Until then this one
        // counts as what the other did.
        usage::note(&inner.home, &name, Happened::Installed, self.clock.now()).map_err(|why| {
            SkillError::Store(format!("`{name}` is installed, and that could not be noted: {why}"))
        })?;
        Ok(Installed { name, folder: inner.home.join(folder), files: files.len(), replaced })
    }

    /// Takes a skill of the home away; it is kept aside. Gives where.
    pub fn remove(&self, name: &str) -> Result<String, SkillError> {
        let inner = &self.inner;
        let _lock = replace::lock(&inner.home)?;
        let found = inner.own(name)?;
        let root = super::view::opened(&found)?;
        put_aside(&root, &found.folder, self.clock.now())
    }

    /// Has a skill of the home left alone by models, or not any more. Whoever pins one that an agent wrote
    /// stands behind it as it is now.
    pub fn pin(&self, name: &str, pinned: bool) -> Result<(), SkillError> {
        let inner = &self.inner;
        let found = inner.one(name)?;
        if found.skill.origin != Origin::Home {
            let why = "is not one of the home, and no model changes it";
            return Err(SkillError::ReadOnly { name: found.skill.name, why });
        }
        // No change of an agent is on its way meanwhile: what it takes back may not be this pin.
        let _lock = replace::lock(&inner.home)?;
        let name = &found.skill.name;
        let pin = match trust::digest(&super::view::opened(&found)?, &found.folder) {
            _ if !pinned => Pin::Gone,
            Err(why) if usage::is_of_agent(&inner.home, name, || None) => {
                return Err(SkillError::Invalid(format!(
                    "nobody can stand behind `{name}` as it is: {why}; an agent wrote it"
                )));
            }
            digest => Pin::Set(digest.ok()),
        };
        usage::pin(&inner.home, name, pin)
    }

    /// Accepts the project's skills as they are now, and what it says about their categories; a changed one
    /// has to be accepted again. Gives what became of each skill.
    pub fn trust_project(&self) -> Result<Vec<Accepted>, SkillError> {
        let inner = &self.inner;
        let mut roots = inner.folders();
        roots.retain(|root| root.origin == Origin::Project);
        let accepted = roots.into_iter().map(|root| inner.trust_below(root));
        Ok(accepted.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

impl Inner {
    /// Accepts the skills in one folder of the project.
    fn trust_below(&self, root: Root) -> Result<Vec<Accepted>, SkillError> {
        let found = self.below(&[root]);
        let Some(first) = found.first() else { return Ok(Vec::new()) };
        let root = super::view::opened(first)?;
        let folders: Vec<PathBuf> = found.iter().map(|found| found.folder.clone()).collect();
        let about = find::category_files(&root);
        let refused = trust::accept(&self.home, &root, &folders, &about)?;
        let names = found.into_iter().map(|found| found.skill.name);
        Ok(names.zip(refused).map(|(name, refused)| Accepted { name, refused }).collect())
    }

    /// Where a skill goes that nobody gave a category: the one of its name is kept in.
    fn beside_its_like(&self, name: &str) -> PathBuf {
        let known = self.own_skills().into_iter().find(|found| found.answers_to(name));
        let above = known.as_ref().and_then(|found| found.folder.parent());
        above.unwrap_or(Path::new("")).join(name)
    }

    /// Sees to it that a skill can go into a folder; gives the folder of the one that it takes the place of.
    fn free_place(
        &self,
        root: &Beneath,
        name: &str,
        folder: &Path,
        force: bool,
    ) -> Result<Option<PathBuf>, SkillError> {
        usage::readable(&self.home)?;
        let mut own = self.own_skills();
        own.retain(|found| found.answers_to(name));
        if force && own.len() > 1 {
            // Whichever went, the name would still be that of several.
            let places: Vec<String> = own.iter().map(|found| found.place().display().to_string()).collect();
            return Err(SkillError::Invalid(format!(
                "there are several skills `{name}` already: {}; take away all but one with `hermes skills remove PATH`",
                places.join(", ")
            )));
        }
        let old = own.into_iter().next();
        match &old {
            Some(found) if usage::is_pinned(&self.home, &found.skill.name)? => {
                return Err(SkillError::ReadOnly { name: found.skill.name.clone(), why: PINNED });
            }
            Some(found) if !force => {
                return Err(SkillError::Invalid(format!(
                    "there is a skill `{name}` already, in {}; --force puts this one in its place",
                    found.place().display()
                )));
            }
            Some(found) if found.folder == folder => {}
            _ => freed(root, folder)?,
        }
        Ok(old.map(|found| found.folder))
    }
}

/// A skill's name and files, all of them read and looked at before anything is written.
fn read(from: &Beneath, source: &Path, force: bool) -> Result<(String, Vec<Incoming>), SkillError> {
    let text = from.text(Path::new(SKILL_FILE), find::MAX_BYTES).map_err(store)?;
    let text =
        text.ok_or_else(|| SkillError::Invalid(format!("{} has no {SKILL_FILE}", source.display())))?;
    if !front::has_facts(&text) && !force {
        return Err(SkillError::Invalid(format!(
            "{} was not taken: {SKILL_FILE} does not begin with facts between two lines of `---`, such as its \
             name and description; write them, or use --force",
            source.display()
        )));
    }
    let facts = front::read(&text);
    let folder = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = facts.name.unwrap_or(folder);
    names::checked("skill", &name)?;
    let mut files = Vec::new();
    let mut room = MAX_ALL;
    collect(from, Path::new(""), 0, &mut room, &mut files)?;
    if !force {
        for file in &files {
            if let Some(threat) = threat(&file.bytes) {
                let path = file.path.display();
                return Err(SkillError::Invalid(format!(
                    "{path} was not taken: it {threat}; read it, and use --force if it is meant so"
                )));
            }
        }
    }
    Ok((name, files))
}

fn collect(
    from: &Beneath,
    folder: &Path,
    depth: usize,
    room: &mut u64,
    files: &mut Vec<Incoming>,
) -> Result<(), SkillError> {
    let too_much = || SkillError::Invalid(format!("a skill may have {MAX_FILES} files and {MAX_ALL} bytes"));
    if depth > MAX_DEPTH {
        return Err(too_much());
    }
    for item in from.list(folder).map_err(store)?.iter().filter(|item| !is_hidden(&item.name)) {
        let path = folder.join(&item.name);
        if !item.is_text() {
            let path = path.display();
            return Err(SkillError::Invalid(format!("it holds a name that is not text: {path}")));
        }
        match item.kind {
            ItemKind::Folder if item.name == "__pycache__" || item.name == "node_modules" => {}
            ItemKind::Folder => collect(from, &path, depth + 1, room, files)?,
            ItemKind::File => {
                let bytes =
                    from.read(&path, MAX_LINKED.max(find::MAX_BYTES)).map_err(store)?.unwrap_or_default();
                *room = room.checked_sub(bytes.len() as u64).ok_or_else(too_much)?;
                files.push(Incoming { path, bytes, runs: item.runs });
                if files.len() > MAX_FILES {
                    return Err(too_much());
                }
            }
            ItemKind::Link | ItemKind::Other => {
                let why = "it is a link or no file, and is not taken along";
                return Err(SkillError::Path { file: path.display().to_string(), why });
            }
        }
    }
    Ok(())
}
