//! A path as the policy sees it: folded names, and the folders it lies in.

use std::path::{Component, Path};

use super::rule::Rule;
use super::{Access, PathCx};

/// The names of a path, folded for comparison, with the folders it is judged by.
#[derive(Debug)]
pub(super) struct Names<'a> {
    path: &'a Path,
    cx: &'a PathCx<'a>,
    all: Vec<String>,
    homes: Vec<usize>,
    own_home: Option<usize>,
    agent: Option<usize>,
}

impl<'a> Names<'a> {
    /// None if the path is not absolute or not in normal form.
    pub(super) fn of(path: &'a Path, cx: &'a PathCx<'a>) -> Option<Self> {
        if !path.has_root() || path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let all = folded(path);
        let own_home = inside(&all, &folded(cx.home));
        let agent = inside(&all, &folded(cx.hermes_home));
        let mut homes = other_homes(&all);
        homes.extend(own_home);
        Some(Self { path, cx, all, homes, own_home, agent })
    }

    /// Every name from the root on.
    pub(super) fn all(&self) -> &[String] {
        &self.all
    }

    /// The names below each home folder that the path lies in.
    pub(super) fn below_homes(&self) -> impl Iterator<Item = &[String]> {
        self.homes.iter().filter_map(|at| self.all.get(*at..)).filter(|rest| !rest.is_empty())
    }

    /// The names below the agent's folder, if the path lies in it.
    pub(super) fn below_agent(&self) -> Option<&[String]> {
        self.agent.and_then(|at| self.all.get(at..))
    }

    pub(super) fn in_workspace(&self) -> bool {
        self.lies_in(self.cx.workspace)
    }

    /// Whether the path lies in the workspace, and the whole workspace falls under the rule.
    pub(super) fn in_workspace_under(&self, rule: &Rule) -> bool {
        self.in_workspace()
            && Names::of(self.cx.workspace, self.cx).is_some_and(|all| rule.matches(&all, Access::Write))
    }

    pub(super) fn in_temp(&self) -> bool {
        self.lies_in(self.cx.temp) && self.path != self.cx.temp
    }

    pub(super) fn in_write_roots(&self) -> bool {
        let roots = self.cx.write_roots;
        roots.is_empty() || self.is_stream() || roots.iter().any(|root| self.lies_in(root))
    }

    pub(super) fn in_home(&self) -> bool {
        self.own_home.is_some()
    }

    /// Whether the first name below the home begins with a dot, or it is the home's library of settings.
    pub(super) fn is_hidden_in_home(&self) -> bool {
        let first = self.own_home.and_then(|at| self.all.get(at));
        first.is_some_and(|name| name.starts_with('.') || name == "library" || name == "appdata")
    }

    /// Standard streams, terminals and the bit bucket.
    pub(super) fn is_stream(&self) -> bool {
        let name = match self.all.as_slice() {
            [dev, name] if dev == "dev" => name,
            [dev, folder, _] if dev == "dev" && (folder == "fd" || folder == "pts") => return true,
            _ => return false,
        };
        matches!(name.as_str(), "null" | "zero" | "full" | "tty" | "stdin" | "stdout" | "stderr" | "ptmx")
    }

    pub(super) fn is_home_or_above(&self) -> bool {
        folded(self.cx.home).starts_with(&self.all)
            || self.homes.contains(&self.all.len())
            || homes_folder(&self.all)
    }

    pub(super) fn holds_workspace(&self) -> bool {
        folded(self.cx.workspace).starts_with(&self.all)
    }

    pub(super) fn holds_agent(&self) -> bool {
        folded(self.cx.hermes_home).starts_with(&self.all)
    }

    fn lies_in(&self, folder: &Path) -> bool {
        below(self.path, folder, self.cx.ignore_case)
    }

    /// A directory directly below the root (or below a drive), which the system keeps.
    pub(super) fn is_top_level(&self) -> bool {
        match self.all.as_slice() {
            [drive] | [drive, _] if drive.ends_with(':') => true,
            [_] => true,
            [usr, name] => {
                usr == "usr" && matches!(name.as_str(), "bin" | "lib" | "lib64" | "sbin" | "share" | "local")
            }
            _ => false,
        }
    }
}

/// How many names belong to the folder, if the path lies in it or is it.
fn inside(all: &[String], folder: &[String]) -> Option<usize> {
    (!folder.is_empty() && all.starts_with(folder)).then_some(folder.len())
}

/// Where the names below a home folder begin, for homes in the usual places.
fn other_homes(all: &[String]) -> Vec<usize> {
    match all {
        [root, ..] if root == "root" => vec![1],
        [var, root, ..] if var == "var" && root == "root" => vec![2],
        [users, _, ..] if users == "home" || users == "users" => vec![2],
        [drive, users, _, ..] if drive.ends_with(':') && users == "users" => vec![3],
        _ => Vec::new(),
    }
}

/// Whether this is the folder that holds everybody's home.
fn homes_folder(all: &[String]) -> bool {
    match all {
        [only] => only == "home" || only == "users",
        [drive, users] => drive.ends_with(':') && users == "users",
        _ => false,
    }
}

/// Whether `path` is `folder` or lies below it, by exact names or without regard to case.
fn below(path: &Path, folder: &Path, ignore_case: bool) -> bool {
    if folder.components().all(|part| matches!(part, Component::RootDir | Component::Prefix(_))) {
        return false;
    }
    if ignore_case { folded(path).starts_with(&folded(folder)) } else { path.starts_with(folder) }
}

/// The names of a path, folded. The `/private` twin of macOS is taken for what it stands for.
fn folded(path: &Path) -> Vec<String> {
    let text = path.to_string_lossy();
    let drive = text.as_bytes().get(1) == Some(&b':');
    let parts =
        text.split(|c| c == '/' || (drive && c == '\\')).filter(|part| !part.is_empty() && *part != ".");
    let mut names: Vec<String> = parts.map(fold).collect();
    let twin = matches!(names.get(1).map(String::as_str), Some("etc" | "var" | "tmp"));
    if twin && names.first().is_some_and(|first| first == "private") {
        names.remove(0);
    }
    names
}

/// A name as the most forgiving file system reads it: lower case, without characters that HFS+ ignores,
/// without the trailing dots, spaces and stream names that NTFS drops.
fn fold(name: &str) -> String {
    if name.is_ascii() && !name.bytes().any(|b| b.is_ascii_uppercase() || matches!(b, b' ' | b'.' | b':')) {
        return name.to_owned();
    }
    let kept: String =
        name.chars().filter(|c| !ignorable(*c)).flat_map(char::to_lowercase).map(plain).collect();
    let whole = kept.split_once("::").map_or(kept.as_str(), |(before, _)| before);
    let cut = whole.trim_end_matches(['.', ' ']);
    if cut.is_empty() { kept } else { cut.to_owned() }
}

/// Letters that upper-case to an ASCII letter although they are not one.
fn plain(c: char) -> char {
    match c {
        'ſ' => 's',
        'ı' => 'i',
        other => other,
    }
}

fn ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{200b}')
}

/// Whether a name fits a pattern in which `*` stands for any characters. Linear in practice: patterns are ours
/// and hold at most two stars.
pub(super) fn glob(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    match tail.split_once('*') {
        None => rest.ends_with(tail),
        Some((middle, end)) => rest
            .find(middle)
            .and_then(|at| rest.get(at + middle.len()..))
            .is_some_and(|rest| rest.ends_with(end)),
    }
}
