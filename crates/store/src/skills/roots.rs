//! Where skills are looked for: the home's own folder, the project's, those that the configuration names,
//! and what plugins bring.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hermes_core::effect::lexical;
use hermes_core::skills::{Origin, SKILL_FILE};

use super::Inner;
use crate::disk;

/// A skill that a plugin brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginSkill {
    /// The plugin.
    pub plugin: String,
    /// What it is asked for by: `plugin:name`.
    pub name: String,
    /// Its `SKILL.md`, or the folder that holds it.
    pub path: PathBuf,
}

impl PluginSkill {
    /// The folder that holds its `SKILL.md`.
    pub(super) fn folder(&self) -> &Path {
        let file = self.path.file_name().is_some_and(|name| name == SKILL_FILE);
        self.path.parent().filter(|_| file).unwrap_or(&self.path)
    }
}

/// A folder with skills in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) origin: Origin,
    /// What the one skill that the folder is goes by; otherwise it holds any number of them.
    pub(super) only: Option<String>,
}

impl Root {
    fn holding(path: PathBuf, origin: Origin) -> Self {
        Self { path, origin, only: None }
    }
}

/// The folders that `skills.external_dirs` names: `~`, `$NAME` and `${NAME}` stand for what they mean, and
/// what is relative begins in the Hermes home, so that no project one happens to stand in is meant.
pub fn external_folders(
    named: &[String],
    home: &Path,
    user_home: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<PathBuf> {
    // An empty entry would mean the home itself; `check` tells about it.
    let named = named.iter().filter(|named| !named.trim().is_empty());
    named.map(|named| lexical(&expanded(named, variable), home, user_home)).collect()
}

/// A path with its variables filled in; those that are not set stay as they are written.
fn expanded(path: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut parts = path.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = part.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let bare = || part.split_at_checked(part.find(|c| !plain(c)).unwrap_or(part.len()));
        let (name, rest) = braced.or_else(bare).unwrap_or((part, ""));
        if let Some(value) = variable(name).filter(|value| !value.is_empty()) {
            text.push_str(&value);
            text.push_str(rest);
        } else {
            text.push('$');
            text.push_str(part);
        }
    }
    text
}

impl Inner {
    /// Every folder with skills, plugins' last.
    pub(super) fn roots(&self) -> Vec<Root> {
        let plugins = self.plugins.get().map(|ask| ask()).unwrap_or_default();
        let one = |skill: PluginSkill| Root {
            path: skill.folder().to_owned(),
            origin: Origin::Plugin(skill.plugin),
            only: Some(skill.name),
        };
        let mut roots = self.folders();
        roots.extend(plugins.into_iter().map(one));
        roots
    }

    /// The folders that hold any number of skills: no plugin is asked.
    pub(super) fn folders(&self) -> Vec<Root> {
        let mut roots = vec![Root::holding(self.home.clone(), Origin::Home)];
        let mut seen = BTreeSet::from([disk::real(&self.home)]);
        let state = disk::real(&self.state);
        for folder in self.here.project.iter().map(|folder| folder.join(".hermes")) {
            let skills = folder.join("skills");
            // A project may lie below the folder that the home is in, or be that folder, whichever way leads there.
            let of_home = state.starts_with(disk::real(&folder.join("profiles")));
            if !of_home && seen.insert(disk::real(&skills)) {
                roots.push(Root::holding(skills, Origin::Project));
            }
        }
        for path in &self.here.external {
            if seen.insert(disk::real(path)) {
                roots.push(Root::holding(path.clone(), Origin::External));
            }
        }
        roots
    }

    /// Where places elsewhere have a folder: the home's own skills first, then those of each folder that
    /// the configuration names, by number.
    pub(super) fn given(&self, folder: &Path) -> Option<PathBuf> {
        let named = self.here.external.iter().enumerate();
        let named = named.map(|(at, path)| (format!("external_skills/{}", at + 1), path));
        let mut all = std::iter::once(("skills".to_owned(), &self.home)).chain(named);
        all.find_map(|(there, here)| Some(Path::new(&there).join(folder.strip_prefix(here).ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_may_begin_with_a_variable_and_is_never_relative_to_where_one_stands() {
        let variable = |name: &str| (name == "TEAM").then(|| "/srv/team".to_owned());
        let named = ["", " ", "$TEAM/skills", "${TEAM}-old", "$NOBODY/x", "mine", "~/more", "/abs"];
        let named = named.map(str::to_owned);

        let found = external_folders(&named, Path::new("/h/.hermes"), Some(Path::new("/h")), &variable);

        let wanted = [
            "/srv/team/skills",
            "/srv/team-old",
            "/h/.hermes/$NOBODY/x",
            "/h/.hermes/mine",
            "/h/more",
            "/abs",
        ];
        assert_eq!(found, wanted.map(PathBuf::from));
    }

    #[test]
    fn a_plugin_names_the_file_or_the_folder() {
        let skill = |path: &str| PluginSkill { plugin: "p".into(), name: "p:s".into(), path: path.into() };

        assert_eq!(skill("/p/s/SKILL.md").folder(), Path::new("/p/s"));
        assert_eq!(skill("/p/s").folder(), Path::new("/p/s"));
    }
}
