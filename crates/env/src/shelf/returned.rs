//! What comes back from a place: files that were made or changed there, put into a folder of their own.
//!
//! A place is not believed: a path that could lead elsewhere is no path, what is given out to be
//! larger than it may is not asked for, and nothing that was here before is written over but what came
//! back earlier.

#![expect(clippy::disallowed_methods, reason = "puts what comes back into a folder of its own")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};

use super::put::put;

/// How long a path may be, and how deep.
const LONGEST: usize = 1024;
const DEEPEST: usize = 32;

/// A file as it came back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrived<'a> {
    pub(crate) path: PathBuf,
    pub(crate) bytes: &'a [u8],
}

/// A path from a place, if it leads nowhere but below where it is put.
pub(crate) fn safe(path: &str) -> Option<PathBuf> {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.is_empty() || path.len() > LONGEST || path.contains(char::is_control) {
        return None;
    }
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    (parts.len() <= DEEPEST && parts.iter().all(plain)).then(|| parts.iter().collect())
}

/// Takes apart what a place has sent: for each file a line `#size path`, then what it holds. What is
/// not whole is left out.
pub(crate) fn arrived(mut bytes: &[u8]) -> Vec<Arrived<'_>> {
    let mut all = Vec::new();
    while let Some(at) = memchr::memchr(b'\n', bytes) {
        let (line, rest) = bytes.split_at(at);
        let rest = rest.get(1..).unwrap_or_default();
        let told = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix('#')?.split_once(' '));
        let Some((size, path)) = told else { break };
        let Some(held) = size.parse::<usize>().ok().and_then(|size| rest.get(..size)) else { break };
        bytes = rest.get(held.len()..).unwrap_or_default();
        all.extend(safe(path).map(|path| Arrived { path, bytes: held }));
    }
    all
}

/// Puts a file where it belongs below `folder`; whether it is other than what was there.
pub(crate) fn keep(folder: &Path, file: &Arrived<'_>) -> io::Result<bool> {
    let path = folder.join(&file.path);
    let parent = path.parent().unwrap_or(folder);
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    // Whatever lies there, nothing outside is written to by way of a link.
    if !fs::canonicalize(parent)?.starts_with(fs::canonicalize(folder)?) {
        return Err(io::Error::other("it leads outside"));
    }
    if fs::symlink_metadata(&path).is_ok_and(|there| there.is_file())
        && fs::read(&path).is_ok_and(|there| there == file.bytes)
    {
        return Ok(false);
    }
    put(&path, 0o600, file.bytes).map(|()| true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_that_could_lead_elsewhere_is_none() {
        assert_eq!(safe("./skills/a b/x.md"), Some(PathBuf::from("skills/a b/x.md")));
        for odd in ["", ".", "..", "/etc/passwd", "a/../../b", "./../x", "a\nb", "a\0b", "x/.."] {
            assert_eq!(safe(odd), None, "{odd:?}");
        }
        assert_eq!(safe(&"a/".repeat(40)), None);
        assert_eq!(safe(&"a".repeat(2000)), None);
    }

    #[test]
    fn what_is_not_whole_is_left_out() {
        let sent = b"#3 ./a\nabc#0 b\n#2 ../c\nxx#4 d\ndef";

        let all = arrived(sent);

        let expected = [("a", b"abc".as_slice()), ("b", b"")];
        let expected: Vec<_> =
            expected.iter().map(|(path, bytes)| Arrived { path: path.into(), bytes }).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn what_came_back_is_kept_once_and_never_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("back"), dir.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(&outside, folder.join("out")).unwrap();
        let file = |path: &str| Arrived { path: path.into(), bytes: b"new" };

        assert!(keep(&folder, &file("skills/x")).unwrap());
        assert!(!keep(&folder, &file("skills/x")).unwrap());
        assert!(keep(&folder, &file("out/x")).is_err());

        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read(folder.join("skills/x")).unwrap(), b"new");
    }

    proptest! {
        #[test]
        fn whatever_is_sent_stays_below(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for file in arrived(&bytes) {
                let stays = file.path.components().all(|part| matches!(part, Component::Normal(_)));
                prop_assert!(stays, "{:?}", file.path);
            }
        }

        #[test]
        fn a_safe_path_has_only_plain_parts(path in any::<String>()) {
            if let Some(path) = safe(&path) {
                prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            }
        }
    }
}
