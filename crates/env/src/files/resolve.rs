//! Where a path really leads, link by link, also when its end does not exist.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux itself follows before it gives up.
const MOST_LINKS: usize = 40;

/// The path with links followed as far as it exists.
///
/// A link that leads nowhere is followed too: writing through it would create its target.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    walk(path, |_| true)
}

/// Every name the path stands for on its way: each with links followed in front of its last part.
///
/// For `/dev/stdin` these are `/dev/stdin`, `/proc/self/fd/0`, `/proc/77/fd/0` and so on, which lets
/// a rule about any of them be applied.
pub(crate) fn any_step(path: &Path, mut wanted: impl FnMut(&Path) -> bool) -> bool {
    let mut found = false;
    walk(path, |step| {
        found = found || wanted(step);
        !found
    });
    found
}

/// Follows links part by part until the end or until `go_on` says no; answers where it came to.
fn walk(path: &Path, mut go_on: impl FnMut(&Path) -> bool) -> PathBuf {
    let mut real = PathBuf::new();
    let mut pending = parts(path);
    let mut links = 0;
    while let Some(part) = pending.pop() {
        match part {
            Part::Root(root) => real = root,
            Part::Up => {
                real.pop();
            }
            Part::Name(name) => {
                let step = real.join(&name);
                if !go_on(&step) {
                    return step;
                }
                match fs::read_link(&step) {
                    Ok(target) if links < MOST_LINKS => {
                        links += 1;
                        pending.extend(parts(&target));
                    }
                    _ => real = step,
                }
            }
        }
    }
    real
}

enum Part {
    Root(PathBuf),
    Up,
    Name(OsString),
}

/// The parts of a path, last first, so that the next one is popped.
fn parts(path: &Path) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut root = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root.push(component),
            Component::CurDir => {}
            Component::ParentDir => parts.push(Part::Up),
            Component::Normal(name) => parts.push(Part::Name(name.to_os_string())),
        }
    }
    parts.reverse();
    if !root.as_os_str().is_empty() {
        parts.push(Part::Root(root));
    }
    parts
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink("../gone/new", root.join("a/dangling")).unwrap();
        symlink("loop2", root.join("loop1")).unwrap();
        symlink("loop1", root.join("loop2")).unwrap();
        symlink(root.join("link"), root.join("link2")).unwrap();
        (dir, root)
    }

    #[test]
    fn links_are_followed_as_far_as_the_path_exists() {
        let (_dir, root) = tree();
        for (asked, real) in [
            ("link/file", "a/b/file"),
            ("link2/file", "a/b/file"),
            ("link/../b/./file", "a/b/file"),
            ("link/new/deep", "a/b/new/deep"),
            ("a/dangling", "gone/new"),
            ("nothing/../a", "a"),
            ("", ""),
        ] {
            assert_eq!(real_path(&root.join(asked)), root.join(real), "{asked}");
        }
    }

    #[test]
    fn what_exists_is_resolved_as_the_system_does_it() {
        let (_dir, root) = tree();
        for asked in ["link/file", "link2", "a/../link/.."] {
            assert_eq!(real_path(&root.join(asked)), root.join(asked).canonicalize().unwrap(), "{asked}");
        }
    }

    #[test]
    fn a_loop_of_links_ends() {
        let (_dir, root) = tree();
        assert!(real_path(&root.join("loop1/x")).ends_with("x"));
    }

    #[test]
    fn every_name_on_the_way_is_seen() {
        let (_dir, root) = tree();
        let mut seen = Vec::new();
        any_step(&root.join("link2/file"), |step| {
            seen.extend(step.strip_prefix(&root).ok().map(Path::to_path_buf));
            false
        });
        let seen: Vec<_> =
            seen.iter().filter_map(|path| path.to_str()).filter(|path| !path.is_empty()).collect();
        assert_eq!(seen, ["link2", "link", "a", "a/b", "a/b/file"]);
    }
}
