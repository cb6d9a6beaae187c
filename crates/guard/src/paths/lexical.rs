//! Brings a path as people write it into absolute normal form, without looking at the disk.

use std::path::{Component, Path, PathBuf};

/// Why a path has no normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LexicalError {
    /// There is nothing there.
    Empty,
    /// A NUL byte: the system would cut the path there.
    Nul,
    /// The folder it is relative to is itself not absolute.
    NoBase,
}

impl std::fmt::Display for LexicalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path is empty",
            Self::Nul => "the path holds a NUL byte",
            Self::NoBase => "the path is relative and the folder it starts from is not absolute",
        })
    }
}

impl std::error::Error for LexicalError {}

/// The absolute form of `path` as seen from `cwd`: `~`, `~name`, `.`, `..` and doubled slashes resolved by
/// text alone, never above the root.
///
/// Links are not followed, so `link/..` is taken as the folder that holds `link`. That is why the result is
/// judged once more after resolving.
///
/// ```
/// use std::path::Path;
/// use hermes_guard::paths::lexical;
/// let at = |path| lexical(Path::new(path), Path::new("/home/a/p"), Path::new("/home/a"));
/// assert_eq!(at("../.ssh//id_rsa").unwrap(), Path::new("/home/a/.ssh/id_rsa"));
/// assert_eq!(at("~root/x").unwrap(), Path::new("/root/x"));
/// ```
pub fn lexical(path: &Path, cwd: &Path, home: &Path) -> Result<PathBuf, LexicalError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return Err(LexicalError::Empty);
    }
    if bytes.contains(&0) {
        return Err(LexicalError::Nul);
    }
    let mut out = PathBuf::new();
    let mut parts = path.components().peekable();
    if let Some(start) = parts.peek().and_then(|part| tilde(*part, home)) {
        parts.next();
        climb(&mut out, &start);
    } else if !path.has_root() {
        climb(&mut out, cwd);
    }
    for part in parts {
        step(&mut out, part);
    }
    if out.has_root() { Ok(out) } else { Err(LexicalError::NoBase) }
}

/// The folder that a leading `~` or `~name` stands for.
fn tilde(part: Component<'_>, home: &Path) -> Option<PathBuf> {
    let Component::Normal(word) = part else { return None };
    match word.to_str()?.strip_prefix('~')? {
        "" => Some(home.to_owned()),
        "root" => Some(PathBuf::from("/root")),
        name if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
            Some(home.parent()?.join(name))
        }
        _ => None,
    }
}

fn climb(out: &mut PathBuf, base: &Path) {
    for part in base.components() {
        step(out, part);
    }
}

fn step(out: &mut PathBuf, part: Component<'_>) {
    match part {
        Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        Component::CurDir => {}
        Component::ParentDir => {
            out.pop();
        }
    }
}
