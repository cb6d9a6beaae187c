//! What a call would do to the world, as values.
//!
//! A tool states its effects for the arguments at hand; policy judges them, the batch scheduler
//! keeps conflicting ones apart, and permits are made from those that were allowed. Nothing in
//! the runtime guesses an effect back from text.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Reads a file, or anything below a directory.
    Read(PathBuf),
    /// Creates, changes or removes a file, or anything below a directory.
    Write(PathBuf),
    /// Reads a file of another machine than this one, or anything below a directory there.
    ReadIn(Spot),
    /// Creates, changes or removes a file of another machine, or anything below a directory there.
    WriteIn(Spot),
    /// Runs a command.
    Exec(Command),
    /// Opens a connection to a host (`name` or `name:port`).
    Connect(String),
    /// Looks at a piece of the session's own state.
    ReadSlot(&'static str),
    /// Changes a piece of the session's own state.
    WriteSlot(&'static str),
    /// Does something in the user's name that cannot be taken back: sends, spends, schedules, posts.
    Act(Act),
    /// Calls a tool of a foreign program, which alone knows what it will do.
    Foreign(Foreign),
    /// Does something the tool cannot describe; nothing else runs beside it.
    Unknown(String),
}

/// A call of a foreign program's tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The program, in words a person can judge.
    pub source: String,
    /// Its tool.
    pub tool: String,
    /// Whether the person has said that calls of this program may overlap.
    pub overlaps: bool,
}

/// A path in an environment whose files are not those of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Name of the environment.
    pub environment: String,
    /// The path there; `~` in front stands for the home there.
    pub path: PathBuf,
}

/// A command text and where it would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The exact text handed to the interpreter.
    pub text: String,
    /// Name of the environment (`local`, `docker`, …).
    pub environment: String,
    /// Directory it starts in.
    pub workdir: PathBuf,
}

/// An act in the user's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Which kind of act.
    pub kind: ActKind,
    /// What exactly, in words a person can judge.
    pub detail: String,
}

/// The kinds of acts policy can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ActKind {
    /// A message, mail or post to somebody.
    Send,
    /// Money or metered credit.
    Spend,
    /// Work that will run later by itself.
    Schedule,
    /// A device or service outside this machine.
    Control,
}

impl Effect {
    /// Whether this effect and `other` must not happen at the same time.
    pub fn conflicts(&self, other: &Self) -> bool {
        use Effect::{
            Act, Connect, Exec, Foreign, Read, ReadIn, ReadSlot, Unknown, Write, WriteIn, WriteSlot,
        };
        match (self, other) {
            (Unknown(_) | Exec(_) | Act(_), _) | (_, Unknown(_) | Exec(_) | Act(_)) => true,
            (Foreign(a), Foreign(b)) if a.source == b.source => !(a.overlaps && b.overlaps),
            (Foreign(it), _) | (_, Foreign(it)) => !it.overlaps,
            (Write(a), Read(b) | Write(b)) | (Read(a), Write(b)) => overlaps(a, b),
            (WriteIn(a), ReadIn(b) | WriteIn(b)) | (ReadIn(a), WriteIn(b)) => {
                a.environment == b.environment && overlaps(&a.path, &b.path)
            }
            (WriteSlot(a), ReadSlot(b) | WriteSlot(b)) | (ReadSlot(a), WriteSlot(b)) => a == b,
            (Read(_) | Write(_) | ReadIn(_) | WriteIn(_) | Connect(_) | ReadSlot(_) | WriteSlot(_), _) => {
                false
            }
        }
    }

    /// Whether the effect leaves everything as it was.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Read(_) | Self::ReadIn(_) | Self::ReadSlot(_))
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "reads {}", path.display()),
            Self::Write(path) => write!(f, "writes {}", path.display()),
            Self::ReadIn(spot) => write!(f, "reads {} in {}", spot.path.display(), spot.environment),
            Self::WriteIn(spot) => write!(f, "writes {} in {}", spot.path.display(), spot.environment),
            Self::Exec(command) => write!(f, "runs `{}` in {}", command.text, command.environment),
            Self::Connect(host) => write!(f, "connects to {host}"),
            Self::ReadSlot(slot) => write!(f, "looks at the session's {slot}"),
            Self::WriteSlot(slot) => write!(f, "changes the session's {slot}"),
            Self::Act(act) => write!(f, "{}: {}", act.kind, act.detail),
            Self::Foreign(it) => write!(f, "calls `{}` of {}", it.tool, it.source),
            Self::Unknown(what) => write!(f, "does something that cannot be foreseen: {what}"),
        }
    }
}

impl fmt::Display for ActKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Send => "sends",
            Self::Spend => "spends",
            Self::Schedule => "schedules",
            Self::Control => "controls",
        })
    }
}

/// Whether one path is the other, or a directory above it.
fn overlaps(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// An absolute path without `.`, `..` or doubled separators, by looking at the text alone.
///
/// `~` and `~/x` stand for `home`; anything relative starts at `cwd`.
pub fn lexical(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let raw = match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(path),
    };
    let mut clean = PathBuf::new();
    for part in raw.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Effect {
        Effect::Read(path.into())
    }

    fn write(path: &str) -> Effect {
        Effect::Write(path.into())
    }

    #[test]
    fn reads_share_and_writes_do_not() {
        assert!(!read("/a/b").conflicts(&read("/a/b")));
        assert!(write("/a/b").conflicts(&read("/a/b")));
        assert!(read("/a").conflicts(&write("/a/b")));
        assert!(write("/a/b").conflicts(&write("/a")));
        assert!(!write("/a/b").conflicts(&write("/a/bc")));
    }

    #[test]
    fn files_of_different_environments_never_conflict() {
        let spot = |environment: &str| Spot { environment: environment.to_owned(), path: "/a".into() };

        assert!(Effect::WriteIn(spot("x")).conflicts(&Effect::ReadIn(spot("x"))));
        assert!(!Effect::WriteIn(spot("x")).conflicts(&Effect::WriteIn(spot("y"))));
        assert!(!Effect::WriteIn(spot("x")).conflicts(&write("/a")));
    }

    #[test]
    fn slots_conflict_by_name() {
        assert!(Effect::WriteSlot("todo").conflicts(&Effect::ReadSlot("todo")));
        assert!(!Effect::WriteSlot("todo").conflicts(&Effect::WriteSlot("memory")));
        assert!(!Effect::ReadSlot("todo").conflicts(&Effect::ReadSlot("todo")));
    }

    #[test]
    fn what_cannot_be_foreseen_runs_alone() {
        let unknown = Effect::Unknown("plugin".to_owned());

        assert!(unknown.conflicts(&read("/a")));
        assert!(Effect::Connect("a".to_owned()).conflicts(&unknown));
        assert!(!Effect::Connect("a".to_owned()).conflicts(&Effect::Connect("a".to_owned())));
    }

    #[test]
    fn calls_of_a_foreign_program_overlap_only_where_that_was_said() {
        let foreign = |overlaps| {
            Effect::Foreign(Foreign { source: "MCP server `x`".to_owned(), tool: "t".to_owned(), overlaps })
        };

        assert!(!foreign(true).conflicts(&foreign(true)));
        assert!(foreign(true).conflicts(&foreign(false)));
        assert!(foreign(false).conflicts(&read("/a")));
        assert!(!read("/a").conflicts(&foreign(true)));
        assert!(foreign(true).conflicts(&Effect::Unknown(String::new())));
    }

    #[test]
    fn paths_are_cleaned_without_looking_at_the_disk() {
        let (cwd, home) = (Path::new("/work/app"), Path::new("/home/ann"));
        let clean = |path| lexical(path, cwd, Some(home)).to_string_lossy().into_owned();

        assert_eq!(clean("src/./x/../main.rs"), "/work/app/src/main.rs");
        assert_eq!(clean("../../../../etc"), "/etc");
        assert_eq!(clean("~"), "/home/ann");
        assert_eq!(clean("~//notes"), "/home/ann/notes");
        assert_eq!(clean("~bob/x"), "/work/app/~bob/x");
        assert_eq!(clean("/a//b/"), "/a/b");
    }
}
