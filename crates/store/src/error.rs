//! What can go wrong with the state folder, always with the path and the cause.

use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

/// Why the state folder could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or folder it was tried on.
        path: PathBuf,
        /// What the operating system answered.
        source: io::Error,
    },
    /// A file, or a text to be kept, is larger than we are willing to hold.
    #[error("{} is too large: the limit is {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Most bytes allowed.
        limit: u64,
    },
    /// A text file holds something else.
    #[error("{} is not UTF-8 text (first bad byte at offset {offset})", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// The file is not YAML. It is left as it is.
    #[error("{}:{line}:{column}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Column, counted from 1.
        column: u64,
        /// What the parser says.
        why: String,
    },
    /// The file is YAML, but some values cannot be used.
    #[error("{}", listed(path, problems))]
    Config {
        /// The file.
        path: PathBuf,
        /// Every problem found, in the order of the file.
        problems: Vec<Problem>,
    },
    /// An edit was refused; the file is unchanged.
    #[error("cannot change `{key}` in {}: {why}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Dotted path of the value.
        key: String,
        /// Why not.
        why: String,
    },
    /// Somebody else changed the file between reading and writing.
    #[error("{} was changed by another program; read it again and repeat the edit", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Another writer holds the lock for too long.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A link in a folder that was to be accepted as it is leads out of it.
    #[error(
        "{} is a link to {}, which is not in the folder: what lies there could change unnoticed; \
         put a copy in its place",
        path.display(), target.display()
    )]
    LeadsOut {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A link stands where a folder or file of ours should be.
    #[error("{} is a symbolic link; refusing to write through it", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// No home could be found, or the one named cannot be used.
    #[error("no usable Hermes home: {why}")]
    NoHome {
        /// Why not, and what would help.
        why: String,
    },
    /// A profile name breaks the rule.
    #[error(
        "`{name}` is not a profile name: use 1 to 64 of a-z, 0-9, `_`, `-`, starting with a letter or digit"
    )]
    ProfileName {
        /// The name as given.
        name: String,
    },
    /// A profile is named that does not exist.
    #[error("profile `{name}` does not exist ({} is not a folder){}", path.display(), suggest(suggestion.as_deref()))]
    NoProfile {
        /// The name as given.
        name: String,
        /// Where it should be.
        path: PathBuf,
        /// The nearest profile that does exist.
        suggestion: Option<String>,
    },
    /// A variable may not be written to `.env`.
    #[error("cannot write `{name}`: {why}")]
    Variable {
        /// The name as given; the value is never part of an error.
        name: String,
        /// Why not.
        why: &'static str,
    },
}

/// One thing that is wrong, or odd, in `config.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, counted from 1.
    pub line: u64,
    /// Column, counted from 1.
    pub column: u64,
    /// Dotted path of the value.
    pub key: String,
    /// What is wrong, as a sentence without the key.
    pub what: String,
    /// What would help, if known.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}` {}", self.line, self.key, self.what)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

fn listed(path: &std::path::Path, problems: &[Problem]) -> String {
    let mut text = format!("{} has values that cannot be used:", path.display());
    for problem in problems {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {problem}");
    }
    text
}

fn suggest(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
