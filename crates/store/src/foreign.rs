//! The files that foreign tools come from: looked at by their dates, read, and known by the digest of
//! their content; what was learnt about them, and what they said.
//!
//! | where | what |
//! |---|---|
//! | `tools/`, `plugins/` of a home, `.hermes/` of a project | the files; only ever read, but for new ones |
//! | `cache/<name>` | what can be learnt again |
//! | `logs/<name>` | what they printed; the older half goes when it gets long |

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use hermes_core::hex::hex;
use sha2::{Digest as _, Sha256};

use crate::disk::{self, Kind, Listed, Mode};
use crate::error::StoreError;
use crate::home::Home;
use crate::witness::Witnesses;

pub use crate::disk::Stamp;

/// Longest source of a tool.
pub const MAX_SOURCE: u64 = 2 * 1024 * 1024;

/// Most bytes of something that was learnt.
const MAX_CACHE: u64 = 64 * 1024 * 1024;

/// Above this a log is shortened to its newer half.
const MAX_LOG: u64 = 2 * 1024 * 1024;

/// Most files, and most bytes, that one folder of a plugin may hold.
const MAX_TREE_FILES: usize = 5_000;
const MAX_TREE_BYTES: u64 = 64 * 1024 * 1024;

/// How deep a plugin's folders may be nested.
const MAX_DEPTH: usize = 16;

/// A file, and its dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where it is.
    pub path: PathBuf,
    /// Changes when the file does.
    pub stamp: Stamp,
}

/// The files in a folder whose names end so, sorted by name. Nothing is opened; a folder that is not
/// there holds nothing.
pub fn files(folder: &Path, ending: &str) -> Vec<Seen> {
    // Asked at every call, and mostly there is none: a folder that is not there is not opened to find out.
    if !disk::is_folder(folder) {
        return Vec::new();
    }
    let mut found: Vec<Seen> = names(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == ending))
        .filter_map(|path| Some(Seen { stamp: disk::stamp(&path)?, path }))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The folders in a folder, sorted by name; those whose names begin with a dot or underscore are left out.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let hidden = |name: &OsStr| name.as_encoded_bytes().first().is_none_or(|first| b"._".contains(first));
    let found = disk::names_with_kind(folder).unwrap_or_default().into_iter();
    let found = found.filter(|(path, kind)| {
        let is_folder = *kind == Listed::Folder || *kind == Listed::Unclear && disk::is_folder(path);
        !path.file_name().is_none_or(hidden) && is_folder
    });
    let mut found: Vec<PathBuf> = found.map(|(path, _)| path).collect();
    // All in one folder: their names tell the order, and bytes are quicker than parts of paths.
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    found
}

/// Whether there is a folder.
pub fn is_folder(path: &Path) -> bool {
    disk::is_folder(path)
}

/// Whether what a project in this folder would bring is the home's own: who stands in their own home folder has no
/// project there, by whatever way either is reached.
pub fn is_home(folder: &Path, home: &Home) -> bool {
    disk::is_same(&folder.join(".hermes"), home.path())
}

/// Where something that a project brings is found by whoever stands there: in the project's folder as it really is, and
/// below that by the names it is written with.
pub fn in_project(path: &Path) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(at) = parts.iter().rposition(|part| part.as_os_str() == ".hermes") else {
        return path.to_owned();
    };
    let (project, below) = parts.split_at(at);
    disk::real(&project.iter().collect::<PathBuf>()).join(below.iter().collect::<PathBuf>())
}

/// Whether a path lies in a folder, links followed.
pub fn lies_in(path: &Path, folder: &Path) -> bool {
    disk::real(path).starts_with(disk::real(folder))
}

/// The dates of a file.
pub fn stamp(path: &Path) -> Option<Stamp> {
    disk::stamp(path)
}

fn names(folder: &Path) -> Vec<PathBuf> {
    disk::names(folder).unwrap_or_default()
}

/// The text of a source, if there is one.
pub fn text(path: &Path) -> Result<Option<String>, StoreError> {
    disk::read(path, MAX_SOURCE)
}

/// The same of something that is not quite text; nothing when it cannot be read.
pub fn text_of_any(path: &Path) -> Option<String> {
    let bytes = disk::read_bytes(path, MAX_SOURCE).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The digest of a text.
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Changes when anything in a folder does, by dates alone: nothing is opened. Everything that counts is
/// taken note of; with `near` only the folder itself and these files in it as near.
pub fn tree_stamp(folder: &Path, near: Option<&[&str]>, witnesses: &mut Witnesses) -> String {
    let mut walk = Walk { hash: Sha256::new(), near, left: MAX_TREE_FILES, witnesses };
    walk.add(folder, 0);
    hex(&walk.hash.finalize())
}

/// A walk through a folder.
struct Walk<'a> {
    hash: Sha256,
    near: Option<&'a [&'a str]>,
    left: usize,
    witnesses: &'a mut Witnesses,
}

impl Walk<'_> {
    fn add(&mut self, folder: &Path, depth: usize) {
        self.see(folder, depth == 0);
        let mut paths = disk::names_with_kind(folder).unwrap_or_default();
        paths.sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        for (path, kind) in paths {
            let name = path.file_name().unwrap_or_default();
            // Of what was accepted as it is everything counts; elsewhere what comes and goes does not.
            let passing = self.near.is_some() && (name == "__pycache__" || name == ".git");
            if passing || self.left == 0 || depth > MAX_DEPTH {
                continue;
            }
            self.left -= 1;
            let is_folder = kind == Listed::Folder;
            let near = depth == 0 && self.near.is_some_and(|near| near.iter().any(|it| name == *it));
            // A folder has no stamp of its own: what is in it counts.
            let stamp = if is_folder { None } else { self.see(&path, near) };
            self.hash.update(path.as_os_str().as_encoded_bytes());
            // No name has a zero in it, and a stamp has a fixed length.
            self.hash.update([0, u8::from(stamp.is_some())]);
            for word in stamp.map(|stamp| stamp.words()).unwrap_or_default() {
                self.hash.update(word.to_le_bytes());
            }
            if is_folder {
                self.add(&path, depth + 1);
            }
        }
    }

    fn see(&mut self, path: &Path, near: bool) -> Option<Stamp> {
        let near = near || self.near.is_none();
        if near { self.witnesses.see(path) } else { self.witnesses.see_far(path) }
    }
}

/// What a YAML text says.
pub fn yaml(text: &str) -> Result<serde_json::Value, String> {
    serde_saphyr::from_str(text).map_err(|wrong| wrong.to_string())
}

/// The digest of everything in a folder: names and contents. A link counts with where it leads, which must
/// be in the folder too: what lies elsewhere could change unnoticed.
pub fn tree_digest(folder: &Path) -> Result<String, StoreError> {
    let root = disk::real(folder);
    let mut tree = Tree { hash: Sha256::new(), root: &root, files: MAX_TREE_FILES, bytes: MAX_TREE_BYTES };
    tree.add(&root, 0)?;
    Ok(hex(&tree.hash.finalize()))
}

/// A folder that is being read.
struct Tree<'a> {
    hash: Sha256,
    root: &'a Path,
    /// How many files, and how many bytes, there may still be.
    files: usize,
    bytes: u64,
}

impl Tree<'_> {
    fn add(&mut self, at: &Path, depth: usize) -> Result<(), StoreError> {
        if depth > MAX_DEPTH {
            return Err(self.too_large());
        }
        let mut entries = disk::list(at)?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        for entry in entries {
            let path = &entry.path;
            let name = path.strip_prefix(self.root).unwrap_or(path).as_os_str().as_encoded_bytes();
            self.files = self.files.checked_sub(1).ok_or_else(|| self.too_large())?;
            self.put(name);
            match (entry.kind, disk::link(path)) {
                (Kind::Folder, _) => self.add(path, depth + 1)?,
                (_, Some(target)) => {
                    self.inside(path, &target)?;
                    self.put(target.as_os_str().as_encoded_bytes());
                }
                (Kind::File, None) => {
                    let bytes = disk::read_bytes(path, self.bytes)?.unwrap_or_default();
                    self.bytes =
                        self.bytes.checked_sub(bytes.len() as u64).ok_or_else(|| self.too_large())?;
                    self.put(&bytes);
                }
                (Kind::Other, None) => self.put(b""),
            }
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.hash.update(bytes.len().to_le_bytes());
        self.hash.update(bytes);
    }

    /// Where a link leads has to lie in the folder, by its words as well as in truth: what is there is
    /// read by its own name.
    fn inside(&self, link: &Path, target: &Path) -> Result<(), StoreError> {
        let mut at = link.parent().unwrap_or(self.root).to_owned();
        for part in target.components() {
            match part {
                Component::ParentDir => drop(at.pop()),
                Component::CurDir => {}
                part => at.push(part),
            }
        }
        // One that leads nowhere yet stays as it is given, and leads nowhere we have read.
        let real = disk::real(link);
        if at.starts_with(self.root) && real.starts_with(self.root) && real != link {
            return Ok(());
        }
        Err(StoreError::LeadsOut { path: link.to_owned(), target: target.to_owned() })
    }

    fn too_large(&self) -> StoreError {
        StoreError::TooLarge { path: self.root.to_owned(), limit: MAX_TREE_BYTES }
    }
}

/// Something that was learnt before and kept under this name; nothing when it is not there or cannot
/// be used.
pub fn learnt(home: &Home, name: &str) -> Option<String> {
    disk::read(&home.cache().join(name), MAX_CACHE).ok().flatten()
}

/// Keeps something that was learnt.
pub fn learn(home: &Home, name: &str, text: &str) -> Result<(), StoreError> {
    disk::write(&home.cache().join(name), text, Mode::Private)
}

/// Adds a line to a log.
pub fn log(home: &Home, name: &str, line: &str) -> Result<(), StoreError> {
    let path = home.logs().join(name);
    disk::make_private_folder(&home.logs())?;
    if disk::size(&path).is_some_and(|bytes| bytes > MAX_LOG) {
        let text = disk::read_bytes(&path, 2 * MAX_LOG)?.unwrap_or_default();
        let half = text.get(text.len() / 2..).unwrap_or_default();
        disk::write(&path, &String::from_utf8_lossy(half), Mode::Private)?;
    }
    disk::append(&path, &format!("{line}\n"))
}

/// Writes a new file of the person's own; `false` when there is one already.
pub fn create(path: &Path, text: &str) -> Result<bool, StoreError> {
    if let Some(folder) = path.parent() {
        disk::make_private_folder(folder)?;
    }
    disk::create_new(path, text)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets up files of its own")]
mod tests {
    use super::*;

    #[test]
    fn a_digest_of_a_folder_changes_with_every_name_and_byte_and_links_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            tree_digest(dir.path()).unwrap()
        };
        let first = write("a.py", "1");

        let second = write("sub/b.py", "2");
        for name in ["__pycache__/a.pyc", ".git/start"] {
            assert_ne!(write(name, "x"), second, "{name}");
            std::fs::remove_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        }
        assert_ne!(second, first);
        assert_ne!(write("sub/b.py", "3"), second);
        assert_eq!(write("sub/b.py", "2"), second);
        let link = |target: &str| {
            let path = dir.path().join("link");
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink(target, path).unwrap();
            tree_digest(dir.path())
        };
        let third = link("sub").unwrap();
        assert_ne!(third, second);
        assert_ne!(link("sub/b.py").unwrap(), third);
        let name = dir.path().file_name().unwrap().to_str().unwrap();
        for out in ["/etc/passwd", "../x", "nowhere", &format!("../{name}/../x"), "sub/../../x"] {
            assert!(matches!(link(out), Err(StoreError::LeadsOut { .. })), "{out}");
        }
    }

    #[test]
    fn a_stamp_of_a_folder_changes_with_everything_in_it_and_what_is_near_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for name in ["plugin.yaml", "__init__.py", "other.py", "sub/__init__.py"] {
            write(name, name);
        }
        let stamped = |near: Option<&[&str]>| {
            let mut witnesses = Witnesses::default();
            (tree_stamp(dir.path(), near, &mut witnesses), witnesses)
        };
        let (first, front) = stamped(Some(&["plugin.yaml", "__init__.py"]));
        let (same, all) = stamped(None);
        assert_eq!(same, first);

        write("__pycache__/other.pyc", "x");
        assert_ne!(stamped(None).0, first, "of what was accepted everything counts");
        assert_eq!(stamped(Some(&[])).0, first, "elsewhere compiled Python does not");
        let (_, front_again) = stamped(Some(&["plugin.yaml", "__init__.py"]));
        write("sub/__init__.py", "longer than before");
        assert_ne!(stamped(None).0, first);
        assert!(!all.hold());
        assert!(!front.hold(), "a name came");
        assert!(front_again.hold(), "what is in a folder inside is far");
        write("__init__.py", "longer than before");
        assert!(!front_again.hold());
    }

    #[test]
    fn folders_are_told_by_their_listing_and_behind_links_by_a_look() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b", "a-b", "a", ".hidden", "_private"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("file"), "").unwrap();
        for (name, target) in [("link", "a"), ("dead", "nowhere"), ("other", "file")] {
            std::os::unix::fs::symlink(dir.path().join(target), dir.path().join(name)).unwrap();
        }

        assert_eq!(folders(dir.path()), ["a", "a-b", "b", "link"].map(|name| dir.path().join(name)));
        assert!(folders(&dir.path().join("none")).is_empty());
    }

    #[test]
    fn files_are_told_by_their_dates_and_sorted() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.py", "a.py", "c.txt"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        std::fs::create_dir(dir.path().join("d.py")).unwrap();

        let seen = files(dir.path(), "py");
        std::fs::write(dir.path().join("a.py"), "longer than before").unwrap();

        let names: Vec<_> = seen.iter().map(|it| it.path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["a.py", "b.py"]);
        assert_ne!(files(dir.path(), "py")[0].stamp, seen[0].stamp);
        assert_eq!(files(&dir.path().join("none"), "py"), []);
    }

    #[test]
    fn a_log_keeps_its_newer_half_when_it_gets_long() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let line = "x".repeat(1024 * 1024);

        for _ in 0..4 {
            log(&home, "tools.log", &line).unwrap();
        }
        log(&home, "tools.log", "the end").unwrap();

        let text = std::fs::read_to_string(home.logs().join("tools.log")).unwrap();
        assert!(text.len() < 4 * 1024 * 1024 && text.ends_with("the end\n"), "{}", text.len());
    }
}
