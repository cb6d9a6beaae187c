//! Paths without links, also where not all of them is there yet.

#![expect(clippy::disallowed_methods, reason = "where a link leads is known only to the disk")]

use std::path::{Path, PathBuf};

/// An absolute path as the disk knows it: links are followed as far as it exists, and the rest is
/// appended as it is written.
pub fn resolved(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    // A link to something that is not there yet: what counts is where it would come to be.
    if let Ok(to) = path.read_link()
        && let Some(parent) = path.parent()
        && to != path
        && !to.starts_with(path)
    {
        return but_for_the_last(&parent.join(to));
    }
    but_for_the_last(path)
}

/// The same, but the last part itself is not followed.
pub(super) fn but_for_the_last(path: &Path) -> PathBuf {
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(std::path::Component::Normal(last))) => {
            let parent = parent.canonicalize().unwrap_or_else(|_| but_for_the_last(parent));
            parent.join(last)
        }
        (Some(parent), Some(std::path::Component::ParentDir)) => {
            let parent = but_for_the_last(parent);
            parent.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned)
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_as_far_as_the_path_exists() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();

        for (asked, wanted) in [
            ("link", "real"),
            ("link/new/file", "real/new/file"),
            ("link/../x", "x"),
            ("dangling", "nowhere"),
            ("loop", "loop"),
            ("none/../x", "x"),
        ] {
            assert_eq!(resolved(&root.join(asked)), root.join(wanted), "{asked}");
        }
        assert_eq!(but_for_the_last(&root.join("link/link")), root.join("real/link"));
        assert_eq!(but_for_the_last(&root.join("link")), root.join("link"));
        assert_eq!(resolved(Path::new("/")), Path::new("/"));
    }
}
