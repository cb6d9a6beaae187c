//! The contract for projects: folders with a name, so that a session can go from one to another.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Longest name of a project, in characters.
pub const MAX_NAME: usize = 80;

/// Keeps projects. Its calls are quick, and may block for a moment.
pub trait Projects: Send + Sync {
    /// All projects, by name, and the one that was last switched to.
    fn list(&self) -> Result<Listed, ProjectError>;

    /// Adds one; a name counts once, in whatever case it is written.
    fn create(&self, project: Project) -> Result<Project, ProjectError>;

    /// The one that is meant by a name or by its folder.
    fn find(&self, name: &str) -> Result<Project, ProjectError>;

    /// Remembers that a session went there.
    fn switched(&self, name: &str) -> Result<(), ProjectError>;
}

/// A folder with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// The environment that has it, where that is not this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
}

/// All projects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Listed {
    /// By name.
    #[serde(default)]
    pub projects: Vec<Project>,
    /// The one that was last switched to.
    #[serde(default)]
    pub active: Option<String>,
}

/// Why a project cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// A name breaks the rules.
    #[error("not a name of a project: {0}")]
    Name(&'static str),
    /// The name is taken.
    #[error("there is already a project `{name}`, in {}", path.display())]
    Taken {
        /// The name.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// Nothing goes by that name.
    #[error("there is no project `{name}`{}", near(.known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// The state folder could not be read or written.
    #[error("{0}")]
    Store(String),
}

fn near(known: &[String]) -> String {
    if known.is_empty() {
        "; there are none yet".to_owned()
    } else {
        format!("; there are {}", known.join(", "))
    }
}

/// The name in its plain form, or what is wrong with it.
pub fn plain_name(name: &str) -> Result<String, ProjectError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(ProjectError::Name("it is empty"));
    }
    if name.chars().count() > MAX_NAME {
        return Err(ProjectError::Name("it has more than 80 characters"));
    }
    if name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\')) {
        return Err(ProjectError::Name("it has a slash or a control character in it"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_line_that_is_no_path() {
        assert_eq!(plain_name("  My app ").as_deref(), Ok("My app"));
        for bad in ["", " ", "a/b", "a\\b", "a\nb", &"x".repeat(81)] {
            assert!(plain_name(bad).is_err(), "{bad:?}");
        }
    }
}
