//! Where the skills of a plugin are: a path begins in the plugin's folder, never where the program happens to
//! stand, and those of a plugin that was accepted as it is lie in what was accepted.

use std::path::{Path, PathBuf};

use hermes_core::effect::lexical;
use hermes_extend::plugins::offer::OfferedSkill;
use hermes_extend::plugins::start::Code;
use hermes_store::foreign;
use hermes_store::skills::PluginSkill;

use super::Running;
use crate::foreign::find_plugins::{Found, Origin};

/// Longest name of a skill.
const MAX_NAME: usize = 64;

/// The skills of a plugin that can be used.
pub(crate) fn skills_of(running: &Running) -> Vec<PluginSkill> {
    let plugin = running.name();
    let usable = |skill: &OfferedSkill| {
        let path = place(skill, &running.chosen.found).ok()?;
        Some(PluginSkill { plugin: plugin.to_owned(), name: format!("{plugin}:{}", skill.name), path })
    };
    running.offer.skills.iter().filter_map(usable).collect()
}

/// Why others cannot.
pub(super) fn notes(running: &Running) -> Vec<String> {
    running.offer.skills.iter().filter_map(|skill| place(skill, &running.chosen.found).err()).collect()
}

/// Whether a skill can go by this behind `plugin:`. Models read it in a list, where it must not say anything else.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(plain)
}

/// Where a skill is, or why it is not taken.
fn place(skill: &OfferedSkill, found: &Found) -> Result<PathBuf, String> {
    let OfferedSkill { name, path, .. } = skill;
    if !is_name(name) {
        let name = name.escape_debug();
        return Err(format!(
            "the skill `{name}` is not taken: a name has 1 to {MAX_NAME} letters, digits, `.`, `_` or `-`"
        ));
    }
    let refused = |why: &str| Err(format!("the skill `{name}` is not taken: `{path}` {why}"));
    let folder = match &found.code {
        Code::Folder(folder) => folder,
        Code::EntryPoint(_) if Path::new(path).is_absolute() => return Ok(PathBuf::from(path)),
        Code::EntryPoint(_) => return refused("is relative, and a plugin of a package has no folder"),
    };
    let whole = lexical(path, folder, None);
    if found.origin == Origin::Project && !foreign::lies_in(&whole, folder) {
        return refused("is not in the plugin's folder and could change unnoticed");
    }
    Ok(whole)
}
