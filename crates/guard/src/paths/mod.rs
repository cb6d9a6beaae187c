//! Which files may be read, written or deleted: a pure policy on absolute, normalised paths.
//!
//! The policy sees names, not the disk. Whoever opens a file enforces the rest:
//!
//! 1. Bring the path into shape with [`lexical`] and ask [`judge_path`].
//! 2. Open it without following links (`O_NOFOLLOW`, `openat2` with `RESOLVE_NO_MAGICLINKS`), or resolve it
//!    first, and ask [`judge_path`] again on the resolved path. The stricter of the two answers holds.
//! 3. Work on what was opened, never on the name a second time. A file with other hard links is judged by
//!    the name it was opened by, so writing to one whose link count is above one deserves a question.
//!
//! Names are compared the careful way for rules that refuse (without regard to case, to characters some
//! file systems ignore, or to trailing dots and spaces), and exactly for folders that permit, unless
//! [`PathCx::ignore_case`] says that the disk itself takes no notice of case.

mod agent;
mod credentials;
mod devices;
mod lexical;
mod names;
mod rule;
mod startup;
mod system;

#[cfg(test)]
mod tests;

use std::path::Path;

pub(crate) use credentials::{secret_in_home, secret_of_system};
pub use lexical::{LexicalError, lexical};
use names::Names;
use rule::{Answer, Rule};

/// The rule that asks about files of skills. Whoever writes a skill so that it is known as an agent's, and is given
/// nothing, needs no question.
pub const SKILLS: &str = "agent-skills";

/// Why it does.
pub const WHY_SKILLS: &str = "belongs to a skill, and commands are given the secrets that a skill names";

/// What is to be done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Look at its content, or list it.
    Read,
    /// Create it, change it, or change its mode.
    Write,
    /// Remove it, with everything below it.
    Delete,
}

/// What a protected path is to its owner; grants are given per class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PathClass {
    /// Keys, tokens, passwords, browser and keychain stores.
    Credential,
    /// `.env` files of a project.
    ProjectEnv,
    /// The agent's own settings, policy, secrets and records.
    Agent,
    /// Files whose content is run later: shell profiles, cron, units, hooks, autostart.
    Startup,
    /// Configuration and programs of the operating system.
    System,
    /// Device files, sockets that give control, and kernel interfaces.
    Device,
    /// Anything beyond the workspace, the home folder's plain files and the temporary folder.
    Outside,
    /// A whole tree that nobody deletes by intent: `/`, a home, the workspace, a system directory.
    WholeTree,
}

impl PathClass {
    /// The name used in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::ProjectEnv => "project_env",
            Self::Agent => "agent",
            Self::Startup => "startup",
            Self::System => "system",
            Self::Device => "device",
            Self::Outside => "outside",
            Self::WholeTree => "whole_tree",
        }
    }
}

/// The answer for one path and one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathVerdict {
    /// Nothing speaks against it.
    Allow,
    /// Somebody has to say yes.
    Ask {
        /// Why, as the end of a sentence that begins with the path.
        reason: &'static str,
        /// What kind of thing it is.
        class: PathClass,
        /// The rule that asks.
        rule: &'static str,
    },
    /// It is refused.
    Deny {
        /// Why, as the end of a sentence that begins with the path.
        reason: &'static str,
        /// What kind of thing it is.
        class: PathClass,
        /// The rule that refuses.
        rule: &'static str,
    },
}

impl PathVerdict {
    /// The stricter of two answers; the first one if they are equally strict.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }

    fn weight(self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask { .. } => 1,
            Self::Deny { .. } => 2,
        }
    }
}

/// The folders that a judgement is relative to. All paths absolute and normalised.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PathCx<'a> {
    /// The user's home folder.
    pub home: &'a Path,
    /// The folder the session works in.
    pub workspace: &'a Path,
    /// The agent's own folder.
    pub hermes_home: &'a Path,
    /// The folder for temporary files.
    pub temp: &'a Path,
    /// If not empty, the only folders that may be written to (`HERMES_WRITE_SAFE_ROOT`).
    pub write_roots: &'a [&'a Path],
    /// Whether the disk takes no notice of case.
    pub ignore_case: bool,
}

impl<'a> PathCx<'a> {
    /// A context with no limit on where to write, on a disk that tells case apart.
    pub fn new(home: &'a Path, workspace: &'a Path, hermes_home: &'a Path, temp: &'a Path) -> Self {
        Self { home, workspace, hermes_home, temp, write_roots: &[], ignore_case: false }
    }

    /// Lets writes happen in these folders only.
    pub fn only_write_in(self, write_roots: &'a [&'a Path]) -> Self {
        Self { write_roots, ..self }
    }

    /// For disks that take no notice of case.
    pub fn ignoring_case(self) -> Self {
        Self { ignore_case: true, ..self }
    }
}

/// Judges one access to one path, which must be absolute and in lexical normal form (see [`lexical`]).
///
/// A path that is neither is refused: nobody can say what it names.
pub fn judge_path(path: &Path, access: Access, cx: &PathCx<'_>) -> PathVerdict {
    let Some(names) = Names::of(path, cx) else {
        return PathVerdict::Deny {
            reason: "is not an absolute path in normal form",
            class: PathClass::Outside,
            rule: "unclear-path",
        };
    };
    let known: Vec<PathVerdict> = TABLES.iter().filter_map(|table| first(table, &names, access)).collect();
    let expected = known.contains(&PathVerdict::Allow);
    known
        .into_iter()
        .chain([whole_tree(&names, access), place(&names, access, expected)])
        .fold(PathVerdict::Allow, PathVerdict::stricter)
}

/// Every rule. In a table the first rule that knows a path speaks; between tables the strictest answer holds.
const TABLES: [&[Rule]; 5] =
    [agent::RULES, credentials::RULES, startup::RULES, system::RULES, devices::RULES];

/// The answer of the first rule of a table that knows the path.
///
/// Whoever chose a workspace that lies wholly under a rule that only asks has answered that question.
fn first(table: &'static [Rule], names: &Names<'_>, access: Access) -> Option<PathVerdict> {
    let answered = |rule: &Rule| rule.answer(access) == Answer::Ask && names.in_workspace_under(rule);
    let rule = table.iter().find(|rule| rule.matches(names, access) && !answered(rule))?;
    let Rule { name, why, class, .. } = *rule;
    Some(match rule.answer(access) {
        Answer::Allow => PathVerdict::Allow,
        Answer::Ask => PathVerdict::Ask { reason: why, class, rule: name },
        Answer::Deny => PathVerdict::Deny { reason: why, class, rule: name },
    })
}

/// Refuses to delete a tree that holds everything.
fn whole_tree(names: &Names<'_>, access: Access) -> PathVerdict {
    let reason = match access {
        Access::Delete if names.is_home_or_above() => "is a home folder, or holds one",
        Access::Delete if names.holds_workspace() => "is the workspace, or holds it",
        Access::Delete if names.holds_agent() => "is the agent's folder, or holds it",
        Access::Delete if names.is_top_level() => "is a top-level directory of the system",
        _ => return PathVerdict::Allow,
    };
    PathVerdict::Deny { reason, class: PathClass::WholeTree, rule: "whole-tree" }
}

/// What follows from where the path lies; `expected` if a rule says that it may be changed.
fn place(names: &Names<'_>, access: Access, expected: bool) -> PathVerdict {
    if access == Access::Read {
        return PathVerdict::Allow;
    }
    if !names.in_write_roots() {
        return PathVerdict::Deny {
            reason: "is not in a folder that may be written to",
            class: PathClass::Outside,
            rule: "write-roots",
        };
    }
    if names.in_workspace() || names.in_temp() || expected {
        return PathVerdict::Allow;
    }
    let reason = match (access, names.in_home()) {
        (Access::Write, true) if !names.is_hidden_in_home() => return PathVerdict::Allow,
        (Access::Write, true) => "holds settings of another program",
        (_, true) => "is not in the workspace",
        (_, false) => "is in neither the workspace nor the home folder",
    };
    PathVerdict::Ask { reason, class: PathClass::Outside, rule: "outside-workspace" }
}
