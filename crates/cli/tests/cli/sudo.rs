//! A stand-in for `sudo`, and where its password must not be found.
//!
//! The password goes to a set-uid program called `sudo` alone, and only for users other than root: so
//! root makes a shell with that bit, and the program is started as somebody else. The stand-in runs the
//! helper as that user, as `sudo` does.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::home::HERMES;

/// The user that owns nothing.
const NOBODY: u32 = 65534;

/// Starts what follows as that user.
const AS_NOBODY: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups";

/// Starts `hermes` as that user, in a project that was made ready for it.
pub(crate) const HERMES_OF_NOBODY: &str = "./as-nobody";

/// Gives a home to nobody and puts three programs into its project: one that looks like `sudo`, a copy of
/// this one, which that user may start, and what starts it so. The first is found on the path there: a
/// machine may have no `sudo` of its own. Says whether it could.
#[expect(clippy::print_stderr, reason = "what cannot be tried here is said loudly")]
pub(crate) fn play(home: &Path, project: &Path) -> bool {
    std::fs::copy(HERMES, project.join("hermes")).unwrap();
    if give(home).is_err() {
        assert!(std::env::var_os("HERMES_TEST_FULL").is_none(), "only root can play sudo");
        eprintln!("NOT RUN: only root can make a program that looks like sudo");
        return false;
    }
    let path = project.join("sudo");
    std::fs::copy("/bin/bash", &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let start = project.join(HERMES_OF_NOBODY);
    std::fs::write(&start, format!("#!/bin/sh\nPATH=\"$PATH:$PWD\" exec {AS_NOBODY} ./hermes \"$@\"\n"))
        .unwrap();
    std::fs::set_permissions(&start, std::fs::Permissions::from_mode(0o755)).unwrap();
    true
}

/// Gives a folder to nobody, with everything in it.
fn give(folder: &Path) -> std::io::Result<()> {
    chown(folder, Some(NOBODY), Some(NOBODY))?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            give(&entry.path())?;
        } else {
            chown(entry.path(), Some(NOBODY), Some(NOBODY))?;
        }
    }
    Ok(())
}

/// A command in that project which asks as `sudo` does, and tells how long the answer was.
pub(crate) fn asking() -> String {
    let helper = format!("exec {AS_NOBODY} \"$SUDO_ASKPASS\" \"[sudo] password for ann: \"");
    format!("./sudo -p -c 'p=$({helper}); echo \"code $? length ${{#p}}\"'")
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
