//! What kind of place a path is, decided on its text alone.
//!
//! Paths are made absolute with the working directory of the moment, `.` and `..` are removed,
//! doubled slashes closed up. Links are not followed: nothing here looks at a disk.

use serde::{Deserialize, Serialize};

use crate::walk::{HOLE, HOLE_STR, glob_matches};
use crate::{places, rebuilt, wildcards};

/// The kinds of place rules tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// `/dev/null`, `/dev/stdout` and the like.
    Sink,
    /// Can be made again: build output, caches, dependencies.
    Rebuilt,
    /// In a folder for temporary files.
    Temp,
    /// Made by the same text.
    Made,
    /// Inside the workspace.
    Workspace,
    /// An absolute path of no special kind.
    Elsewhere,
    /// Inside the user's home.
    Home,
    /// Not a path, or a path on another machine.
    Name,
    /// Cannot be known.
    Unseen,
    /// The workspace itself, the working directory, or everything in it.
    WorkspaceTop,
    /// A repository's own data.
    GitData,
    /// `.env` and `config.yaml` of a project.
    ProjectEnv,
    /// Runs by itself later: profiles, cron, units, hooks, keys that open a login.
    Startup,
    /// Holds credentials.
    Credential,
    /// The agent's own settings.
    AgentConfig,
    /// Inside a system folder.
    System,
    /// System configuration.
    SystemConfig,
    /// A system folder itself.
    SystemTop,
    /// A home folder itself, or all of them.
    HomeTop,
    /// A disk or another raw device.
    Device,
    /// The root of the file system.
    Root,
}

/// Where paths are judged from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// The working directory at this point; may hold a hole.
    pub(crate) cwd: &'a str,
    /// The user's home.
    pub(crate) home: &'a str,
    /// The agent's own folder, by its names beside `.hermes` in a home.
    pub(crate) agent: &'a [String],
    /// Folders with skills beside those in it.
    pub(crate) skills: &'a [String],
    /// The folder the work is about.
    pub(crate) workspace: &'a str,
    /// Whether that is one that work may be about.
    pub(crate) counts: bool,
}

/// Makes `path` absolute and lexically normal.
pub(crate) fn normal(path: &str, ground: Ground<'_>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let mut parts: Vec<&str> = Vec::with_capacity(8);
    let mut rest = path;
    let mut lost = false;
    if let Some(tail) = path.strip_prefix('~')
        && (tail.is_empty() || tail.starts_with('/'))
    {
        parts.extend(ground.home.split('/').filter(|p| !p.is_empty()));
        rest = tail;
    } else if path.starts_with(HOLE) {
        // An unknown beginning swallows the working directory.
    } else if !path.starts_with('/') {
        parts.extend(ground.cwd.split('/').filter(|p| !p.is_empty()));
    }
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Above something unknown is unknown too.
                if parts.last().is_some_and(|last| last.contains(HOLE)) {
                    parts.clear();
                    parts.push(HOLE_STR);
                    lost = true;
                } else {
                    parts.pop();
                }
            }
            _ => parts.push(part),
        }
    }
    let mut out = String::with_capacity(path.len() + 16);
    let unseen =
        lost || path.starts_with(HOLE) || (!path.starts_with(['/', '~']) && ground.cwd.starts_with(HOLE));
    for (at, part) in parts.iter().enumerate() {
        if at > 0 || !unseen {
            out.push('/');
        }
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    for other in ["/proc/self/root", "/proc/1/root", "/proc/self/cwd"] {
        if let Some(inside) = out.strip_prefix(other)
            && (inside.is_empty() || inside.starts_with('/'))
        {
            let base = if other.ends_with("cwd") { ground.cwd } else { "" };
            let inside = format!("{base}{inside}");
            return if inside.is_empty() { "/".to_owned() } else { inside };
        }
    }
    if let Some(inside) = out.strip_prefix("/private")
        && ["/etc", "/var", "/tmp"].iter().any(|top| inside == *top || inside.starts_with(&format!("{top}/")))
    {
        return inside.to_owned();
    }
    out
}

/// Classes a normal path. `written` tells a write or delete from a read: credentials matter to
/// readers, start-up files to writers.
pub(crate) fn place(path: &str, ground: Ground<'_>) -> Place {
    let widened;
    let path = if path.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'(')) {
        widened = widen(&wildcards::spelled(path), ground.home);
        widened.as_str()
    } else {
        path
    };
    let (path, all) = everything_in(path);
    if path == "/" {
        return Place::Root;
    }
    if let Some(rest) = path.strip_prefix('/').and_then(|rest| rest.strip_prefix(HOLE))
        && places::SYSTEM_TOPS.iter().any(|top| top.strip_prefix('/') == Some(rest))
    {
        // What is unknown in front of it is most likely nothing.
        return Place::SystemTop;
    }
    if let Some(device) = path.strip_prefix("/dev/") {
        return device_place(device);
    }
    if let Some(place) = top(path, ground) {
        return place;
    }
    let workspace = ground.workspace;
    let in_workspace = ground.counts && within(path, workspace);
    if path.starts_with("/proc/sysrq-trigger")
        || path.starts_with("/sys/firmware")
        || path.starts_with("/sys/power")
        || path.starts_with("/selinux/")
        || path.starts_with("/sys/fs/selinux/")
    {
        return Place::System;
    }
    if let Some(place) = places::marked(path, ground) {
        return place;
    }
    if in_workspace {
        return inside_workspace(path, all, ground);
    }
    if path.starts_with(HOLE) {
        return if rebuilt::rebuilt(path) { Place::Rebuilt } else { Place::Unseen };
    }
    if places::TEMP.iter().any(|top| within(path, top) && path.len() > top.len()) {
        return Place::Temp;
    }
    if within(path, ground.home) || path.starts_with("/home/") || path.starts_with("/Users/") {
        return if rebuilt::rebuilt_anywhere(path) { Place::Rebuilt } else { Place::Home };
    }
    if path == ground.cwd && ground.cwd != workspace {
        return Place::Elsewhere;
    }
    if within(path, "/etc") {
        return Place::SystemConfig;
    }
    if within(path, "/usr/local") && path.len() > "/usr/local".len() {
        return Place::Elsewhere;
    }
    if places::SYSTEM_TOPS.iter().any(|top| within(path, top)) {
        return if path.contains("/log/") || path.ends_with(".log") {
            Place::Elsewhere
        } else {
            Place::System
        };
    }
    Place::Elsewhere
}

/// A wildcard for the first folder that can stand for a system folder is taken to be it, and an
/// extended pattern for its first choice that is one.
fn widen(path: &str, home: &str) -> String {
    if same_depth(path, home) && path.split('/').zip(home.split('/')).all(|(part, of)| glob_matches(part, of))
    {
        return home.to_owned();
    }
    let Some(rest) = path.strip_prefix('/') else { return path.to_owned() };
    let (first, tail) = rest.split_once('/').map_or((rest, None), |(first, tail)| (first, Some(tail)));
    if first.starts_with("!(") {
        return "/*".to_owned();
    }
    let choices = first
        .strip_prefix(['@', '+', '?', '*'])
        .and_then(|inner| inner.strip_prefix('('))
        .and_then(|inner| inner.strip_suffix(')'));
    if let Some(choices) = choices {
        let found = choices
            .split('|')
            .map(|choice| format!("/{choice}"))
            .find(|choice| places::SYSTEM_TOPS.contains(&choice.as_str()));
        return found.unwrap_or_else(|| path.to_owned());
    }
    if let Some(tail) = tail
        && first.contains(['*', '?', '['])
        && let Some(known) = places::SYSTEM_TOPS.iter().find(|known| {
            !known.get(1..).unwrap_or_default().contains('/')
                && glob_matches(first, known.get(1..).unwrap_or_default())
        })
    {
        return format!("{known}/{tail}");
    }
    path.to_owned()
}

fn same_depth(path: &str, other: &str) -> bool {
    let slashes = |text: &str| text.bytes().filter(|b| *b == b'/').count();
    slashes(path) == slashes(other)
}

/// `dir/*` and `dir/.*` are everything in `dir`.
fn everything_in(path: &str) -> (&str, bool) {
    let mut path = path;
    let mut all = false;
    while let Some((folder, last)) = path.rsplit_once('/') {
        let star = !last.is_empty()
            && last != "."
            && (matches!(
                last,
                "*" | "**"
                    | ".*"
                    | "?*"
                    | "*?"
                    | ".[!.]*"
                    | ".??*"
                    | "*.*"
                    | ".[^.]*"
                    | "{*,.*}"
                    | "{.*,*}"
                    | "[a-z]*"
                    | "[!.]*"
                    | "*/"
            ) || last.bytes().all(|b| matches!(b, b'*' | b'?')));
        if !star {
            break;
        }
        all = true;
        path = if folder.is_empty() { "/" } else { folder };
        if path == "/" {
            break;
        }
    }
    (path, all)
}

fn device_place(device: &str) -> Place {
    if matches!(
        device,
        "null" | "stdout" | "stderr" | "stdin" | "tty" | "zero" | "full" | "random" | "urandom" | "ptmx"
    ) {
        return Place::Sink;
    }
    if device == "shm" {
        // The folder itself, which is everybody's.
        return Place::Elsewhere;
    }
    if device.starts_with("fd/")
        || device.starts_with("pts/")
        || device.starts_with("shm/")
        || device.starts_with("tcp/")
        || device.starts_with("udp/")
    {
        return if device.starts_with("shm/") { Place::Temp } else { Place::Sink };
    }
    let disk = [
        "sd", "nvme", "hd", "mmcblk", "vd", "xvd", "disk", "rdisk", "loop", "dm-", "md", "mapper", "nbd",
        "ram", "mtd", "sr", "zram", "mem", "kmem", "port", "block", "zd", "drbd", "bcache",
    ];
    if disk.iter().any(|kind| device.starts_with(kind)) || device.contains(['*', '?', '[', HOLE]) {
        Place::Device
    } else {
        Place::Sink
    }
}

/// System folders, homes and their parents, also when a glob stands for them.
fn top(path: &str, ground: Ground<'_>) -> Option<Place> {
    if path == ground.home && path.len() > 1 {
        return Some(Place::HomeTop);
    }
    let depth = path.bytes().filter(|b| *b == b'/').count();
    if depth > 3 {
        return None;
    }
    let globbed = path.bytes().any(|b| matches!(b, b'*' | b'?' | b'['));
    if depth == 2 {
        for homes in ["/home/", "/Users/"] {
            if let Some(user) = path.strip_prefix(homes)
                && !user.starts_with(HOLE)
                && !within(ground.workspace, path)
            {
                return Some(if user.contains(HOLE) { Place::Home } else { Place::HomeTop });
            }
        }
    }
    let home_parent = ground.home.rsplit_once('/').map_or("", |(parent, _)| parent);
    if !home_parent.is_empty() && path == home_parent {
        return Some(Place::HomeTop);
    }
    let hit = |known: &&&str| **known == path || (globbed && glob_matches(path, known));
    if places::HOME_TOPS.iter().any(|known| hit(&known)) {
        return Some(Place::HomeTop);
    }
    places::SYSTEM_TOPS.iter().find(hit).map(|_| Place::SystemTop)
}

/// Whether the folder the work is about is one that work may be about: not the root, a home, a
/// folder of the system or the folder for everybody's temporary files.
pub(crate) fn is_workspace(folder: &str, home: &str) -> bool {
    let system = [
        "/etc",
        "/bin",
        "/sbin",
        "/boot",
        "/lib",
        "/lib64",
        "/sys",
        "/proc",
        "/dev",
        "/usr/bin",
        "/usr/lib",
        "/usr/sbin",
    ];
    folder.len() > 1
        && folder != home
        && !places::TEMP.contains(&folder)
        && !places::HOME_TOPS.contains(&folder)
        && !places::SYSTEM_TOPS.contains(&folder)
        && !system.iter().any(|top| within(folder, top))
}

fn inside_workspace(path: &str, all: bool, ground: Ground<'_>) -> Place {
    if path == ground.workspace || (path == ground.cwd && within(ground.workspace, path)) {
        return if rebuilt::rebuilt(path.strip_prefix(ground.workspace).unwrap_or(path)) && !all {
            Place::Rebuilt
        } else {
            Place::WorkspaceTop
        };
    }
    let inner = path.get(ground.workspace.len()..).unwrap_or(path);
    if rebuilt::rebuilt(inner) {
        return Place::Rebuilt;
    }
    Place::Workspace
}

/// Whether `path` is `folder` or inside it.
pub(crate) fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}
