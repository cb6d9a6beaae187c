//! One row of the file policy: where, what, and the answer for each access.

use super::names::{Names, glob};
use super::{Access, PathClass};

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// At the root of the file system.
    Root,
    /// In this user's home folder or anybody's.
    Home,
    /// In the agent's folder.
    Agent,
    /// At any folder.
    Anywhere,
}

/// What a rule says to one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Allow,
    Ask,
    Deny,
}

/// One rule. Patterns are lower case, parts divided by `/`; `*` in a part stands for any characters, a last
/// part `**` for everything below (and, for changes, for the folder itself).
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) why: &'static str,
    pub(super) class: PathClass,
    pub(super) anchor: Anchor,
    pub(super) read: Answer,
    pub(super) write: Answer,
    pub(super) patterns: &'static [&'static str],
}

impl Rule {
    pub(super) fn answer(&self, access: Access) -> Answer {
        match access {
            Access::Read => self.read,
            Access::Write | Access::Delete => self.write,
        }
    }

    pub(super) fn matches(&self, names: &Names<'_>, access: Access) -> bool {
        let fits = |parts: &[String]| self.patterns.iter().any(|pattern| matches(pattern, parts, access));
        match self.anchor {
            Anchor::Root => fits(names.all()),
            Anchor::Home => names.below_homes().any(fits),
            Anchor::Agent => names.below_agent().is_some_and(fits),
            Anchor::Anywhere => (0..names.all().len()).any(|at| names.all().get(at..).is_some_and(fits)),
        }
    }
}

/// Whether the parts of a path fit a pattern from its first to its last part.
pub(super) fn matches(pattern: &str, parts: &[String], access: Access) -> bool {
    let mut parts = parts.iter();
    for want in pattern.split('/') {
        if want == "**" {
            return access != Access::Read || parts.next().is_some();
        }
        match parts.next() {
            Some(part) if glob(want, part) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}
