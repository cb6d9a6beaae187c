//! What lies where skills are looked for, looks like a skill to a person and is none; and folders that cannot be
//! read, which look as if they held nothing.

use std::path::{Path, PathBuf};

use hermes_core::skills::SKILL_FILE;

use super::find::{MAX_DEPTH, MAX_SKILLS, is_looked_into, is_skill};
use super::names::PASSED_OVER;
use crate::beneath::{Beneath, Item, ItemKind, is_hidden};
use crate::disk;

/// How deep strays are looked for.
const MAX_STRAYED: usize = 16;
/// Most folders that are looked into for them.
const MAX_FOLDERS: usize = 20_000;

/// Something that looks like a skill to a person and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stray {
    /// A link, which is not followed.
    Link,
    /// A `SKILL.md` in the root itself.
    Top,
    /// A file whose name is nearly `SKILL.md`.
    Spelling,
    /// A skill below too many folders.
    Deep,
    /// A `SKILL.md` that is no file.
    NoFile,
    /// A skill in a folder that is called like those of others' tools.
    PassedOver,
    /// Something whose name is no text.
    NoText,
    /// A folder that cannot be read, and why.
    Unreadable(String),
    /// More skills than are looked at.
    TooMany,
}

/// Why a folder that is there cannot be looked into.
pub(super) fn unreadable(root: &Path) -> Option<String> {
    match Beneath::open(root) {
        Ok(Some(opened)) => Some(opened.list(Path::new("")).err()?.to_string()),
        Ok(None) if disk::link(root).is_some() => {
            Some(format!("cannot read {}: it is a link that leads to no folder", root.display()))
        }
        Ok(None) if disk::is_there(root) => Some(format!("cannot read {}: it is no folder", root.display())),
        Ok(None) => None,
        Err(wrong) => Some(wrong.to_string()),
    }
}

/// What lies below a root that looks like a skill and is none.
pub(super) fn strays(root: &Path) -> Vec<(PathBuf, Stray)> {
    let Ok(Some(opened)) = Beneath::open(root) else { return Vec::new() };
    let mut look = Look { root: &opened, found: Vec::new(), skills: 0, left: MAX_FOLDERS };
    look.step(Path::new(""), 0);
    let more = (look.skills > MAX_SKILLS).then(|| (PathBuf::new(), Stray::TooMany));
    let found = look.found.into_iter().chain(more);
    // Joined with nothing, a path would end in a slash.
    let whole = |path: PathBuf| if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) };
    found.map(|(path, stray)| (whole(path), stray)).collect()
}

/// A look at everything below a root.
struct Look<'a> {
    root: &'a Beneath,
    found: Vec<(PathBuf, Stray)>,
    /// How many skills there are.
    skills: usize,
    /// How many folders may still be looked into.
    left: usize,
}

impl Look<'_> {
    fn step(&mut self, folder: &Path, depth: usize) {
        let Some(left) = self.left.checked_sub(1).filter(|_| self.found.len() < MAX_SKILLS) else { return };
        self.left = left;
        let items = match self.root.list(folder) {
            Ok(items) => items,
            Err(wrong) => return self.found.push((folder.to_owned(), Stray::Unreadable(wrong.to_string()))),
        };
        if is_skill(&items, depth) {
            if depth > MAX_DEPTH {
                self.found.push((folder.to_owned(), Stray::Deep));
            } else {
                self.skills += 1;
            }
            return;
        }
        for item in items.iter().filter(|item| !is_hidden(&item.name)) {
            let path = folder.join(&item.name);
            if let Some(stray) = self.stray(item, &path, depth) {
                self.found.push((path, stray));
            } else if depth < MAX_STRAYED && is_looked_into(item) {
                self.step(&path, depth + 1);
            }
        }
    }

    /// What one name in a folder is, if it is a stray.
    fn stray(&self, item: &Item, path: &Path, depth: usize) -> Option<Stray> {
        match item.kind {
            // Deeper down nothing is looked for, and anything may lie there.
            _ if depth > MAX_DEPTH => None,
            _ if !item.is_text() => Some(Stray::NoText),
            ItemKind::Link => Some(Stray::Link),
            ItemKind::File if item.name == SKILL_FILE => Some(Stray::Top),
            ItemKind::Folder | ItemKind::Other if item.name == SKILL_FILE => Some(Stray::NoFile),
            ItemKind::File if item.name.eq_ignore_ascii_case(SKILL_FILE) => Some(Stray::Spelling),
            ItemKind::Folder if PASSED_OVER.contains(&item.name.as_str()) => {
                let at = |folder: &Path| self.root.look(&folder.join(SKILL_FILE)).is_some();
                let inside = |item: &Item| item.kind == ItemKind::Folder && at(&path.join(&item.name));
                // Packages of others may bring skills along that are none of ours: only at the top is such a
                // folder taken for a category.
                let holds = at(path)
                    || depth == 0
                        && self.root.list(path).unwrap_or_default().iter().take(MAX_SKILLS).any(inside);
                holds.then_some(Stray::PassedOver)
            }
            _ => None,
        }
    }
}
