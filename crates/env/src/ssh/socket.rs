//! The private folder of the shared connection: nobody else can get into it, its path is short enough
//! for a socket, and it goes with us. What a crash of ours left is removed by the next one.

#![expect(clippy::disallowed_methods, reason = "the folder of our own socket is ours to make and to remove")]

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::jobs::{own_process, still_runs};
use crate::process::secret_word;

/// Longest path of such a folder; a socket's may have a hundred bytes, and the client adds some.
const LONGEST: usize = 70;

/// The folder, as long as it is held.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes one in the first of these that can hold it.
    pub(super) fn make(bases: &[PathBuf]) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for base in bases {
            sweep(base);
            let word = secret_word();
            let name = format!("{}{}-{}", prefix(), own_process(), word.get(..6).unwrap_or_default());
            let path = base.join(name);
            if !base.is_absolute() || path.as_os_str().len() > LONGEST {
                continue;
            }
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(wrong) => last = wrong,
            }
        }
        Err(last)
    }

    /// Where the socket is.
    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("c")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is swept later.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn prefix() -> String {
    format!("hermes-ssh-{}-", rustix::process::getuid().as_raw())
}

/// Removes what those of us have left that run no more.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    let own = rustix::process::getuid().as_raw();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(maker) = name.to_str().and_then(|name| name.strip_prefix(&prefix())?.split('-').next())
        else {
            continue;
        };
        let ours = entry.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        if ours && !still_runs(maker) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_is_private_short_and_goes_when_it_is_let_go_of() {
        let base = tempfile::tempdir_in("/tmp").unwrap();

        let folder = Folder::make(&["relative".into(), base.path().into()]).unwrap();

        let path = folder.socket().parent().unwrap().to_path_buf();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(folder.socket().as_os_str().len() < 80);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_crash_left_is_removed_and_nothing_else() {
        let base = tempfile::tempdir_in("/tmp").unwrap();
        let named = |name: String| {
            let path = base.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let left = named(format!("{}1.1-abcdef", prefix()));
        let used = named(format!("{}{}-abcdef", prefix(), own_process()));
        let other = named("hermes-other".to_owned());

        let folder = Folder::make(&[base.path().into()]).unwrap();

        assert!(!left.exists() && used.exists() && other.exists());
        drop(folder);
    }
}
