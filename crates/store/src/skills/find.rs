//! Finds skills: folders with a `SKILL.md` below a few roots. Each file is read again only when it
//! has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hermes_core::skills::{CATEGORY_FILE, Origin, SKILL_FILE, Skill};

use super::front::{self, Front};
use super::names::{self, PASSED_OVER};
use super::roots::Root;
use super::trust::Trusted;
use super::view::store;
use crate::beneath::{Beneath, Item, ItemKind, is_hidden};

/// Largest `SKILL.md` that is read.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;
/// How deep skills may lie below a root.
pub(super) const MAX_DEPTH: usize = 4;
/// Most skills of one root.
pub(super) const MAX_SKILLS: usize = if cfg!(test) { 50 } else { 5_000 };

/// A skill that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) skill: Skill,
    pub(super) front: Arc<Front>,
    /// The root it lies in.
    pub(super) root: PathBuf,
    /// Its folder, from the root on.
    pub(super) folder: PathBuf,
    /// Whether nobody has accepted it as it is now.
    pub(super) untrusted: bool,
}

impl Found {
    /// Its folder.
    pub(super) fn place(&self) -> PathBuf {
        // Joined with nothing, a path would end in a slash.
        if self.folder.as_os_str().is_empty() { self.root.clone() } else { self.root.join(&self.folder) }
    }

    /// Whether a name means this skill: its own, its path below the root, or where it is.
    pub(super) fn answers_to(&self, name: &str) -> bool {
        let last = self.folder.file_name().is_some_and(|last| last == name);
        let bare = !matches!(self.skill.origin, Origin::Plugin(_));
        self.skill.name == name
            || bare && (last || self.folder == Path::new(name) || self.front.name.as_deref() == Some(name))
            || self.place() == Path::new(name)
    }
}

/// What was read, by file, with the date and size it had.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<BTreeMap<PathBuf, ReadAt>>);

/// The date and size of a file, and what it said then.
type ReadAt = (SystemTime, u64, Arc<Front>);

impl Known {
    fn front(&self, root: &Beneath, file: &Path) -> Option<Arc<Front>> {
        let looked = root.look(file).filter(|item| item.kind == ItemKind::File)?;
        let whole = root.path().join(file);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((modified, bytes, front)) = known.get(&whole)
            && (*modified, *bytes) == (looked.modified, looked.bytes)
        {
            return Some(Arc::clone(front));
        }
        let text = match root.text(file, MAX_BYTES) {
            Ok(text) => text?,
            // What it says about where it is for is not known either. It is read again: what was wrong may be over.
            Err(wrong) => {
                let (problems, unclear) = (vec![store(wrong).to_string()], vec![SKILL_FILE.to_owned()]);
                return Some(Arc::new(Front { unclear, problems, ..Front::default() }));
            }
        };
        let front = Arc::new(front::read(&text));
        known.insert(whole, (looked.modified, looked.bytes, Arc::clone(&front)));
        Some(front)
    }
}

/// All skills below a root, in the order of their paths.
pub(super) fn below(root: &Root, known: &Known, trusted: &Trusted) -> Vec<Found> {
    // A root that cannot be opened has no skills; `check` tells about it.
    let Ok(Some(opened)) = Beneath::open(&root.path) else { return Vec::new() };
    if root.only.is_some() {
        let front = known.front(&opened, Path::new(SKILL_FILE));
        return front.map(|front| made(root, Path::new(""), front, false)).into_iter().collect();
    }
    let mut found = Vec::new();
    walk(&opened, Path::new(""), 0, &mut |folder| {
        let Some(front) = known.front(&opened, &folder.join(SKILL_FILE)) else { return };
        let untrusted = root.origin == Origin::Project && !trusted.knows(&opened, folder);
        found.push(made(root, folder, front, untrusted));
    });
    found
}

/// What categories below a root are about, for those that say so. What a project says counts once somebody
/// has accepted it.
pub(super) fn categories(root: &Root, known: &Known, trusted: &Trusted) -> Vec<(String, String)> {
    let Ok(Some(opened)) = Beneath::open(&root.path) else { return Vec::new() };
    let about = |file: PathBuf| {
        if root.origin == Origin::Project && !trusted.knows_file(&opened, &file) {
            return None;
        }
        let front = known.front(&opened, &file)?;
        let category = category_of(file.parent()?);
        (!front.description.is_empty()).then(|| (category, front.description.clone()))
    };
    category_files(&opened).into_iter().filter_map(about).collect()
}

/// Where categories with skills would say what they are about.
pub(super) fn category_files(root: &Beneath) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    walk(root, Path::new(""), 0, &mut |folder| {
        let category = folder.parent().filter(|category| !category.as_os_str().is_empty());
        let file = category.map(|category| category.join(CATEGORY_FILE));
        files.extend(file.filter(|file| files.last() != Some(file)));
    });
    files
}

fn made(root: &Root, folder: &Path, front: Arc<Front>, untrusted: bool) -> Found {
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    // What a plugin calls its skill counts, whatever the file says.
    let named = root.only.clone().or_else(|| front.name.clone().filter(|name| names::is_shown(name)));
    let category = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let skill = Skill {
        name: names::shown(&named.or_else(|| last(folder)).unwrap_or_default()),
        description: front.description.clone(),
        category: category.map(category_of),
        origin: root.origin.clone(),
        conditions: front.conditions.clone(),
    };
    Found { skill, front, root: root.path.clone(), folder: folder.to_owned(), untrusted }
}

/// What a folder of skills is called, as a model may read it.
fn category_of(folder: &Path) -> String {
    let parts: Vec<String> = folder.iter().map(|part| names::shown(&part.to_string_lossy())).collect();
    parts.join("/")
}

/// Comes by every folder that has a `SKILL.md`; what lies below such a folder belongs to it.
pub(super) fn walk(root: &Beneath, folder: &Path, depth: usize, visit: &mut dyn FnMut(&Path)) {
    let mut left = MAX_SKILLS;
    step(root, folder, depth, &mut left, visit);
}

fn step(root: &Beneath, folder: &Path, depth: usize, left: &mut usize, visit: &mut dyn FnMut(&Path)) {
    let Ok(items) = root.list(folder) else { return };
    if is_skill(&items, depth) {
        if *left > 0 {
            *left -= 1;
            visit(folder);
        }
        return;
    }
    if depth == MAX_DEPTH {
        return;
    }
    for item in items.iter().filter(|item| is_looked_into(item)) {
        step(root, &folder.join(&item.name), depth + 1, left, visit);
    }
}

/// Whether these are the contents of a skill: the root itself is none.
pub(super) fn is_skill(items: &[Item], depth: usize) -> bool {
    depth > 0 && items.iter().any(|item| item.name == SKILL_FILE && item.kind == ItemKind::File)
}

pub(super) fn is_looked_into(item: &Item) -> bool {
    item.kind == ItemKind::Folder
        && item.is_text()
        && !is_hidden(&item.name)
        && !PASSED_OVER.contains(&item.name.as_str())
}
