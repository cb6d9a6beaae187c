//! What there is to give, within bounds.

#![expect(clippy::disallowed_methods, reason = "looks at the files of this machine that places are given")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::Item;

/// How deep folders may lie.
const MAX_DEPTH: usize = 16;

/// Most files, the largest of them, and all of them together.
const MAX_FILES: usize = 10_000;
const MAX_FILE: u64 = 64 * 1024 * 1024;
const MAX_ALL: u64 = 512 * 1024 * 1024;

/// Folders that are made again wherever they are needed.
const PASSED_OVER: &[&str] = &["node_modules", "venv", "__pycache__", "site-packages"];

/// What there is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Files by their path there.
    pub(crate) files: BTreeMap<String, Listed>,
    /// How many were left out, being too large or too many, or links that lead outside.
    pub(crate) left_out: usize,
}

/// A file to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Where its content is on this machine; no link is left in it.
    pub(crate) from: PathBuf,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i128,
    /// Its mode there.
    pub(crate) mode: u32,
}

/// Looks at all of these.
pub(crate) fn look(items: &[Item]) -> Listing {
    let mut looking = Looking { listing: Listing::default(), all: 0 };
    for item in items {
        // What is not there is not given.
        let Ok(root) = fs::canonicalize(&item.from) else { continue };
        let within = item.within.as_ref().map(fs::canonicalize);
        if within.is_some_and(|within| within.ok().is_none_or(|within| root != within.join(&item.below))) {
            looking.listing.left_out += 1;
            continue;
        }
        let mut walk = Walk { root: &root, secret: item.secret, inside: BTreeSet::new() };
        looking.visit(&mut walk, &root, &item.below, 0);
    }
    looking.listing
}

/// What a file holds, if it is still the same regular file and not larger than it was.
pub(crate) fn read(listed: &Listed) -> Option<Vec<u8>> {
    let file = File::open(&listed.from).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

struct Looking {
    listing: Listing,
    all: u64,
}

struct Walk<'a> {
    /// What nothing may lead out of.
    root: &'a Path,
    secret: bool,
    /// Folders we are in, so that a link cannot lead in a circle.
    inside: BTreeSet<PathBuf>,
}

impl Looking {
    /// Looks at something whose real path is known.
    fn visit(&mut self, walk: &mut Walk<'_>, real: &Path, below: &str, depth: usize) {
        let Ok(about) = fs::metadata(real) else { return };
        if about.is_file() {
            self.add(walk, real, below, &about);
        } else if about.is_dir() && depth < MAX_DEPTH && walk.inside.insert(real.to_path_buf()) {
            let names = fs::read_dir(real).into_iter().flatten().flatten();
            let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
            names.sort();
            for name in names {
                let Some(name) = name.to_str().filter(|name| is_given(name)) else { continue };
                match fs::canonicalize(real.join(name)) {
                    Ok(next) if next.starts_with(walk.root) => {
                        self.visit(walk, &next, &format!("{below}/{name}"), depth + 1);
                    }
                    Ok(_) => self.listing.left_out += 1,
                    // A link to nothing, or a file that just went.
                    Err(_) => {}
                }
            }
            walk.inside.remove(real);
        }
    }

    fn add(&mut self, walk: &Walk<'_>, real: &Path, below: &str, about: &Metadata) {
        let all = self.all.saturating_add(about.len());
        if about.len() > MAX_FILE || all > MAX_ALL || self.listing.files.len() >= MAX_FILES {
            self.listing.left_out += 1;
            return;
        }
        self.all = all;
        let runs = about.permissions().mode() & 0o100 != 0;
        let mode = match (walk.secret, runs) {
            (true, _) => 0o400,
            (false, true) => 0o555,
            (false, false) => 0o444,
        };
        let modified = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
        let listed = Listed { from: real.to_path_buf(), size: about.len(), modified, mode };
        self.listing.files.insert(below.to_owned(), listed);
    }
}

/// What is hidden is somebody's own, and what cannot be written in a line cannot be named there.
fn is_given(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(char::is_control) && !PASSED_OVER.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn item(from: &Path, secret: bool) -> Item {
        Item { from: from.to_path_buf(), below: "skills".to_owned(), secret, within: None }
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.files.keys().map(String::as_str).collect()
    }

    #[test]
    fn links_are_followed_as_far_as_they_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("skills");
        fs::create_dir_all(root.join("a/deep")).unwrap();
        fs::write(root.join("a/SKILL.md"), "hello").unwrap();
        fs::write(dir.path().join("outside"), "key").unwrap();
        symlink("a/SKILL.md", root.join("same")).unwrap();
        symlink(dir.path().join("outside"), root.join("out")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        symlink("..", root.join("a/deep/round")).unwrap();
        symlink("nowhere", root.join("broken")).unwrap();

        let listing = look(&[item(&root, false)]);

        assert_eq!(names(&listing), ["skills/a/SKILL.md", "skills/same"]);
        assert_eq!(listing.left_out, 2);
        let same = listing.files.get("skills/same").unwrap();
        assert!(fs::symlink_metadata(&same.from).unwrap().is_file());
    }

    #[test]
    fn a_credential_file_is_given_only_from_where_it_says_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("token.json"), "t").unwrap();
        fs::write(home.join(".env"), "KEY=1").unwrap();
        fs::write(dir.path().join("other"), "o").unwrap();
        symlink(".env", home.join("innocent.json")).unwrap();
        let named = |name: &str| Item {
            from: home.join(name),
            below: name.to_owned(),
            secret: true,
            within: Some(home.clone()),
        };

        let listing = look(&["token.json", "innocent.json", "../other", "missing"].map(named));

        assert_eq!((names(&listing), listing.left_out), (vec!["token.json"], 2));
    }

    #[test]
    fn a_folder_that_is_itself_a_link_is_what_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::write(dir.path().join("real/x"), "x").unwrap();
        symlink("real", dir.path().join("link")).unwrap();

        assert_eq!(names(&look(&[item(&dir.path().join("link"), false)])), ["skills/x"]);
    }

    #[test]
    fn what_is_hidden_or_made_again_stays_here_and_nothing_can_be_written_there() {
        let dir = tempfile::tempdir().unwrap();
        for folder in [".hub", "node_modules"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("x"), "x").unwrap();
        }
        fs::write(dir.path().join("run.sh"), "#!").unwrap();
        fs::set_permissions(dir.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(dir.path().join("plain"), "x").unwrap();
        fs::write(dir.path().join("line\nend"), "x").unwrap();

        let open = look(&[item(dir.path(), false)]);
        let modes: Vec<_> = open.files.iter().map(|(name, file)| (name.as_str(), file.mode)).collect();
        assert_eq!(modes, [("skills/plain", 0o444), ("skills/run.sh", 0o555)]);

        let secret = look(&[item(&dir.path().join("plain"), true)]);
        assert_eq!(secret.files.get("skills").unwrap().mode, 0o400);
        assert_eq!(look(&[item(&dir.path().join("nothing"), true)]), Listing::default());
    }
}
