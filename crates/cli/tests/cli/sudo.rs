//! A stand-in for `sudo`, and where its password must not be found.
//!
//! The password goes to a set-uid program called `sudo` alone, and only root can make one: a shell with
//! that bit. The command line is the same as for the real one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Puts a program into the folder that looks like `sudo` to everybody; says whether it could.
#[expect(clippy::print_stderr, reason = "what cannot be tried here is said loudly")]
pub(crate) fn play(folder: &Path) -> bool {
    let path = folder.join("sudo");
    std::fs::copy("/bin/bash", &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&path).unwrap()) == 0;
    if !is_root {
        assert!(std::env::var_os("HERMES_TEST_FULL").is_none(), "only root can play sudo");
        eprintln!("NOT RUN: only root can make a program that looks like sudo");
    }
    is_root
}

/// A command in that folder which asks as `sudo` does, and tells how long the answer was.
pub(crate) fn asking() -> String {
    let once = r#"p=$(exec "$SUDO_ASKPASS" "[sudo] password for ann: "); echo "code $? length ${#p}""#;
    format!("./sudo -c '{once}'")
}

/// The files below a folder that hold this text.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}
