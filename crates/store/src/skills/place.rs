//! Where a new skill goes: whether it is free there, and what is said when it is not.

use std::path::Path;

use hermes_core::skills::{SKILL_FILE, SkillError};

use super::{find, names};
use crate::beneath::{Beneath, Item, ItemKind, is_temporary};

/// Most skills of a category that are named.
const MAX_NAMED: usize = 3;

/// Holds a category to the rules. Whatever lies inside of a skill is a part of it and no skill itself.
pub(super) fn checked_category(root: &Beneath, category: Option<&str>) -> Result<(), SkillError> {
    let Some(category) = category else { return Ok(()) };
    names::checked("category", category)?;
    if root.look(&Path::new(category).join(SKILL_FILE)).is_some() {
        return Err(SkillError::Invalid(format!(
            "`{category}` is a skill and cannot be a category: a skill inside of another one is not found"
        )));
    }
    Ok(())
}

/// Sees to it that a folder can be taken for a new skill: nothing is there, or only what a process left that died
/// while it wrote one, which goes.
pub(super) fn freed(root: &Beneath, folder: &Path) -> Result<(), SkillError> {
    let Some(there) = root.look(folder) else { return Ok(()) };
    let refused = || Err(SkillError::Invalid(in_the_way(root, folder, there.kind)));
    let Ok(items) = root.list(folder) else { return refused() };
    let ours = |item: &Item| item.kind == ItemKind::File && is_temporary(&item.name);
    if there.kind != ItemKind::Folder || !items.iter().all(ours) {
        return refused();
    }
    let gone = items.iter().all(|item| root.remove(&folder.join(&item.name)).is_ok());
    if gone && root.remove_if_empty(folder) { Ok(()) } else { refused() }
}

/// What stands where a skill is to go and is none, and what helps.
fn in_the_way(root: &Beneath, folder: &Path, kind: ItemKind) -> String {
    let mut skills = Vec::new();
    if kind == ItemKind::Folder {
        find::walk(root, folder, folder.components().count(), &mut |skill| {
            let below = skill.strip_prefix(folder).unwrap_or(skill);
            skills.push(names::shown(&below.to_string_lossy()));
        });
    }
    let place = folder.display();
    if skills.is_empty() {
        let what = match kind {
            ItemKind::File => "a file",
            ItemKind::Folder => "a folder without a SKILL.md",
            ItemKind::Link => "a link, which is not followed,",
            ItemKind::Other => "neither a file nor a folder",
        };
        return format!(
            "`{place}` is {what} in the folder of all skills: take another name, or have it moved away"
        );
    }
    let count = skills.len();
    let mut named = skills.into_iter().take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    if count > MAX_NAMED {
        named.push_str(", …");
    }
    // A category is named by one word: those that lie deeper are a person's own doing.
    let inside =
        if folder.components().count() == 1 { ", or put the skill into it with `category`" } else { "" };
    format!(
        "`{place}` is a category with {count} skill{} ({named}) and cannot be a skill: take another name{inside}",
        if count == 1 { "" } else { "s" },
    )
}
