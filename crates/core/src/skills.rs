//! The contract for skills: written-down know-how that a model reads when a kind of work comes up.
//!
//! A skill is a folder with a `SKILL.md`: a few facts at its top, then instructions. It may bring
//! files along, in `references/`, `templates/`, `scripts/` and `assets/`. Where the folders are, and
//! how they are read and written, is the business of whoever implements [`Skills`].

mod index;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::definitions::Toolbox;
use crate::permit::{Permit, Write};
use crate::threat::Threat;

pub use index::{WITHOUT_CATEGORY, harmless, in_short, index};

/// The name of the file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// The name of the file that says what a category is about.
pub const CATEGORY_FILE: &str = "DESCRIPTION.md";

/// The folders of a skill whose files can be written.
pub const LINKED_FOLDERS: [&str; 4] = ["references", "templates", "assets", "scripts"];

/// Keeps skills.
pub trait Skills: Send + Sync {
    /// The skills that can be used here, sorted by category and name; with `beside`, only those that
    /// make sense beside what is offered.
    fn list(&self, beside: Option<Beside>) -> BoxFuture<'_, Result<Vec<Skill>, SkillError>>;

    /// What categories are about, by name, where somebody has written it down.
    fn categories(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, SkillError>> {
        Box::pin(std::future::ready(Ok(BTreeMap::new())))
    }

    /// What a skill says, and what belongs to it.
    fn view<'a>(&'a self, name: &'a str, session: &'a str) -> BoxFuture<'a, Result<View, SkillError>>;

    /// A file that belongs to a skill.
    fn file<'a>(&'a self, name: &'a str, file: &'a str) -> BoxFuture<'a, Result<LinkedFile, SkillError>>;

    /// The folder that all skills which can be changed lie in.
    fn folder(&self) -> PathBuf;

    /// Where the folder of a skill lies in places elsewhere, below `.hermes` in the home there; nothing when
    /// they are not given it.
    fn given(&self, folder: &Path) -> Option<PathBuf> {
        let _ = folder;
        None
    }

    /// The folder that a change of this skill would write in: its own, or the one it would get.
    fn target(&self, name: &str, category: Option<&str>) -> PathBuf;

    /// Makes a change, whole or not at all, as far as the permit reaches.
    fn change(
        &self,
        permit: Permit<Write>,
        change: SkillChange,
    ) -> BoxFuture<'_, Result<Changed, SkillError>>;
}

/// What is offered to the model that asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Names of tools.
    pub tools: BTreeSet<Arc<str>>,
    /// Toolsets they belong to.
    pub toolsets: BTreeSet<Arc<str>>,
}

impl Beside {
    /// Everything that a toolbox has, offered at once or on demand.
    pub fn of(toolbox: &Toolbox) -> Self {
        let all = || toolbox.offered().iter().chain(toolbox.deferred());
        let mut toolsets: Vec<&Arc<str>> = all().map(|tool| tool.entry().toolset()).collect();
        // Most stand beside others of the same toolset already.
        toolsets.dedup();
        Self {
            tools: all().map(|tool| Arc::clone(tool.name())).collect(),
            toolsets: toolsets.into_iter().cloned().collect(),
        }
    }
}

/// A skill, in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name: what it is asked for by.
    pub name: String,
    /// When it is of use.
    pub description: String,
    /// The folder it stands in, where that is not the top one.
    pub category: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// When it makes sense.
    pub conditions: Conditions,
}

impl Skill {
    /// Whether it stands in a category, or in none where that is what the words say that an index has for it.
    pub fn is_in(&self, category: &str) -> bool {
        self.category.as_deref().unwrap_or(WITHOUT_CATEGORY) == category
    }
}

/// Where a skill comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The agent's own folder.
    Home,
    /// The project at hand, which somebody trusts.
    Project,
    /// A folder named in the configuration.
    External,
    /// A plugin.
    Plugin(String),
}

impl Origin {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Project => "project",
            Self::External => "external",
            Self::Plugin(_) => "plugin",
        }
    }
}

/// When a skill makes sense, by what is offered beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// All of these tools must be there.
    pub requires_tools: Vec<String>,
    /// A tool of each of these toolsets must be there.
    pub requires_toolsets: Vec<String>,
    /// None of these tools must be there: the skill stands in for them.
    pub fallback_for_tools: Vec<String>,
    /// None of these toolsets must be there: the skill stands in for them.
    pub fallback_for_toolsets: Vec<String>,
}

impl Conditions {
    /// Whether the skill makes sense beside these.
    pub fn fit(&self, beside: &Beside) -> bool {
        self.unmet(beside).is_none()
    }

    /// Why the skill makes no sense beside these, in words; nothing when it does.
    pub fn unmet(&self, beside: &Beside) -> Option<String> {
        let lacks = |names: &[String], there: &BTreeSet<Arc<str>>| -> Vec<String> {
            names.iter().filter(|name| !there.contains(name.as_str())).cloned().collect()
        };
        let has = |names: &[String], there: &BTreeSet<Arc<str>>| -> Vec<String> {
            names.iter().filter(|name| there.contains(name.as_str())).cloned().collect()
        };
        let reasons = [
            ("it needs the tools", lacks(&self.requires_tools, &beside.tools)),
            ("it needs the toolsets", lacks(&self.requires_toolsets, &beside.toolsets)),
            ("it stands in for tools that are there:", has(&self.fallback_for_tools, &beside.tools)),
            ("it stands in for toolsets that are there:", has(&self.fallback_for_toolsets, &beside.toolsets)),
        ];
        let told = reasons.into_iter().find(|(_, names)| !names.is_empty());
        told.map(|(why, names)| format!("{why} {}", names.join(", ")))
    }
}

/// What a skill says, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The skill.
    pub skill: Skill,
    /// All of `SKILL.md`, its variables filled in.
    pub text: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Skills that are of use beside it.
    pub related: Vec<String>,
    /// `SKILL.md`, from the folder of all skills on.
    pub path: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Files that belong to it, by the folder they are in, those of other folders as `other`; kinds
    /// without files are left out.
    pub linked: Vec<(&'static str, Vec<String>)>,
    /// How many more there are than are named.
    pub more: usize,
    /// What it needs on this machine.
    pub needs: Needs,
    /// What looks wrong about its text.
    pub threat: Option<Threat>,
}

impl View {
    /// The same for somebody who finds the skill's folder under this path.
    #[must_use]
    pub fn at(mut self, folder: &Path) -> Self {
        self.text = self.text.replace(&*self.folder.to_string_lossy(), &folder.to_string_lossy());
        self.folder = folder.to_path_buf();
        self
    }
}

/// What a skill needs on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Variables.
    pub variables: Vec<NeededVariable>,
    /// Programs.
    pub commands: Vec<String>,
    /// Those of the variables that are not set and cannot be done without.
    pub missing_variables: Vec<String>,
    /// Those of the programs that are not installed.
    pub missing_commands: Vec<String>,
    /// Files with credentials that are not there.
    pub missing_files: Vec<String>,
    /// Whether an agent wrote the skill: it could have named any variable it wants to see.
    pub of_agent: bool,
}

impl Needs {
    /// The names of its variables: what commands of a session that has read the skill are to be given.
    /// None when no person stands behind them.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.variables.iter().filter(|_| !self.of_agent).map(|variable| variable.name.clone())
    }

    /// Whether something is missing.
    pub fn lack(&self) -> bool {
        !(self.missing_variables.is_empty()
            && self.missing_commands.is_empty()
            && self.missing_files.is_empty())
    }
}

/// A variable that a skill uses. Its value is nobody's business here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeededVariable {
    /// Its name.
    pub name: String,
    /// What to ask a person for.
    pub prompt: Option<String>,
    /// Where it is to be had.
    pub help: Option<String>,
    /// What needs it.
    pub required_for: Option<String>,
    /// Whether the skill works without it.
    pub optional: bool,
}

/// A file that belongs to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedFile {
    /// The skill's name.
    pub skill: String,
    /// The file, from the skill's folder on.
    pub file: String,
    /// What it says; nothing when it is no text.
    pub text: Option<String>,
    /// How long it is.
    pub bytes: u64,
    /// What looks wrong about its text.
    pub threat: Option<Threat>,
}

/// A change to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillChange {
    /// A new skill.
    Create {
        /// Its name.
        name: String,
        /// The folder it gets.
        category: Option<String>,
        /// All of `SKILL.md`.
        text: String,
    },
    /// Another text for `SKILL.md`, or for a file that is there.
    Rewrite {
        /// The skill.
        name: String,
        /// The file; `SKILL.md` when none is named.
        file: Option<String>,
        /// The whole new text.
        text: String,
        /// What it must say now, so that nobody's work is lost.
        before: Option<String>,
    },
    /// The skill goes; what it was is kept aside.
    Delete {
        /// The skill.
        name: String,
        /// The skill that has taken its content over.
        absorbed_into: Option<String>,
    },
    /// A file that belongs to the skill, new or not.
    WriteFile {
        /// The skill.
        name: String,
        /// The file.
        file: String,
        /// The whole text.
        text: String,
    },
    /// A file goes.
    RemoveFile {
        /// The skill.
        name: String,
        /// The file.
        file: String,
    },
}

impl SkillChange {
    /// The skill it is about.
    pub fn name(&self) -> &str {
        match self {
            Self::Create { name, .. }
            | Self::Rewrite { name, .. }
            | Self::Delete { name, .. }
            | Self::WriteFile { name, .. }
            | Self::RemoveFile { name, .. } => name,
        }
    }
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The skill's folder, from the folder of all skills on; where it is kept now, when it went.
    pub path: String,
    /// The file that was written.
    pub file: Option<PathBuf>,
}

/// Why a skill could not be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// There is none of this name.
    #[error("there is no skill `{name}`{}", perhaps(.near))]
    Unknown {
        /// The name as given.
        name: String,
        /// Names that are like it.
        near: Vec<String>,
    },
    /// There are several.
    #[error("`{name}` is the name of several skills: {}; name one with its path", .found.join(", "))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// Names that are clear.
        found: Vec<String>,
    },
    /// It is not for this system.
    #[error("the skill `{name}` is only for {}", .systems.join(", "))]
    Unsupported {
        /// Its name.
        name: String,
        /// What it is for.
        systems: Vec<String>,
    },
    /// Somebody switched it off.
    #[error("the skill `{0}` is switched off in the configuration")]
    Disabled(String),
    /// It has no such file.
    #[error("the skill `{skill}` has no file `{file}`")]
    NoFile {
        /// The skill.
        skill: String,
        /// The file as given.
        file: String,
        /// The files that are there.
        there: Vec<String>,
        /// How many more there are than are named.
        more: usize,
    },
    /// A path is not one that a skill can have.
    #[error("`{file}` cannot be used: {why}")]
    Path {
        /// The path as given.
        file: String,
        /// Why not.
        why: &'static str,
    },
    /// A name, or a text, is not what a skill needs.
    #[error("{0}")]
    Invalid(String),
    /// A file is not UTF-8.
    #[error(
        "{0} is not UTF-8 text and is left as it is: if it is text in another encoding, such as Latin-1, save it as \
         UTF-8 first; `iconv -f LATIN1 -t UTF-8` makes that of Latin-1"
    )]
    NotText(String),
    /// The name is taken.
    #[error("there is a skill `{name}` already, in {path}; change it with edit or patch")]
    Exists {
        /// Its name.
        name: String,
        /// Where it is.
        path: String,
    },
    /// It can be read only.
    #[error("the skill `{name}` cannot be changed here: it {why}")]
    ReadOnly {
        /// Its name.
        name: String,
        /// Why, after "it".
        why: &'static str,
    },
    /// The text would be obeyed by whoever reads it.
    #[error("this was not kept: it {0}")]
    Threat(Threat),
    /// Somebody else was faster.
    #[error("{0} was changed by somebody else meanwhile; read it again")]
    Stale(String),
    /// The permit does not reach there.
    #[error("nobody has allowed to write {0}")]
    NotAllowed(String),
    /// The folder cannot be used.
    #[error("{0}")]
    Store(String),
}

fn perhaps(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("` or `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(tools: &[&str], toolsets: &[&str]) -> Beside {
        let set = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
        Beside { tools: set(tools), toolsets: set(toolsets) }
    }

    #[test]
    fn conditions_look_at_tools_and_toolsets() {
        let needs = Conditions { requires_tools: vec!["terminal".to_owned()], ..Conditions::default() };
        let stands_in = Conditions { fallback_for_toolsets: vec!["web".to_owned()], ..Conditions::default() };

        assert!(needs.fit(&beside(&["terminal"], &[])) && !needs.fit(&beside(&[], &["terminal"])));
        assert!(stands_in.fit(&beside(&[], &[])) && !stands_in.fit(&beside(&[], &["web"])));
        assert_eq!(needs.unmet(&beside(&[], &[])).unwrap(), "it needs the tools terminal");
        let why = stands_in.unmet(&beside(&[], &["web"])).unwrap();
        assert_eq!(why, "it stands in for toolsets that are there: web");
    }
}
