//! Opening a file to read it, and nothing that only looks like one.
//!
//! Devices, pipes and sockets can block for ever or act when opened; some files below `/proc` show
//! the secrets of processes. Both are refused whatever link leads there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Component, Path};

use hermes_core::files::{FileError, Stamp};

use super::{resolve, similar, spot};

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    /// Its size; 0 for files whose content is made up as they are read.
    pub(crate) size: u64,
    /// What it is known by.
    pub(crate) stamp: Stamp,
}

/// Files without a size are read up to here.
const MOST_OF_UNSIZED: u64 = 16 * 1024 * 1024;

impl Opened {
    /// The content up to where it ended when it was opened, should it grow while it is read.
    pub(crate) fn bounded(self) -> io::Take<File> {
        self.file.take(if self.size == 0 { MOST_OF_UNSIZED } else { self.size })
    }
}

/// Opens what the path leads to, if that is a regular file that may be shown.
pub(crate) fn open(path: &Path) -> Result<Opened, FileError> {
    refuse_special(path)?;
    // Looking first keeps devices from being opened at all; looking again at the open file makes
    // sure that it is still what was looked at.
    let looked_at = fs::metadata(path).map_err(|error| explain(path, &error))?;
    must_be_file(path, &looked_at)?;
    let file = options(Follow::Links).open(path).map_err(|error| explain(path, &error))?;
    check(path, file)
}

/// Opens a file found by walking, without following a link in its last part.
pub(crate) fn open_found(path: &Path) -> Result<Opened, FileError> {
    let file = options(Follow::Nothing).open(path).map_err(|error| unreadable(path, &error.to_string()))?;
    check(path, file)
}

/// Refuses names that stand for streams or for the inside of a process.
pub(crate) fn refuse_special(path: &Path) -> Result<(), FileError> {
    let mut found = None;
    resolve::any_step(path, |step| {
        found = special(step);
        found.is_some()
    });
    match found {
        None => Ok(()),
        Some(Special::Stream) => Err(FileError::NotRegular(path.to_path_buf())),
        Some(Special::Process) => Err(unreadable(path, PROCESS)),
    }
}

/// What to answer when the system will not give the file.
pub(crate) fn explain(path: &Path, error: &io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            FileError::Missing { path: path.to_path_buf(), similar: similar::names(path) }
        }
        _ => unreadable(path, &error.to_string()),
    }
}

/// An error with a reason in words.
pub(crate) fn unreadable(path: &Path, reason: &str) -> FileError {
    FileError::Unreadable { path: path.to_path_buf(), reason: reason.to_owned() }
}

const PROCESS: &str = "it shows the memory, environment or streams of a process";

/// Names below a process in `/proc` that are never shown.
const PROCESS_SECRETS: [&str; 12] = [
    "auxv",
    "cmdline",
    "environ",
    "map_files",
    "maps",
    "mem",
    "numa_maps",
    "pagemap",
    "smaps",
    "smaps_rollup",
    "stack",
    "syscall",
];

#[derive(Clone, Copy)]
enum Follow {
    Links,
    Nothing,
}

enum Special {
    Stream,
    Process,
}

fn special(step: &Path) -> Option<Special> {
    let mut parts = step.components();
    if parts.next() != Some(Component::RootDir) {
        return None;
    }
    let names: Vec<_> = parts.map(|part| part.as_os_str().to_str().unwrap_or_default()).collect();
    let process = |rest: &[&str]| match rest {
        ["fd", "0" | "1" | "2"] => Some(Special::Stream),
        [name, ..] if PROCESS_SECRETS.contains(name) => Some(Special::Process),
        _ => None,
    };
    match names.as_slice() {
        ["dev", "stdin" | "stdout" | "stderr"] | ["dev", "fd", "0" | "1" | "2"] => Some(Special::Stream),
        ["proc", "kcore" | "kmsg" | "kpagecount" | "kpageflags"] => Some(Special::Process),
        ["proc", _, "task", _, rest @ ..] | ["proc", _, rest @ ..] => process(rest),
        _ => None,
    }
}

fn must_be_file(path: &Path, metadata: &fs::Metadata) -> Result<(), FileError> {
    if metadata.is_dir() {
        return Err(FileError::IsDirectory(path.to_path_buf()));
    }
    if !metadata.is_file() {
        return Err(FileError::NotRegular(path.to_path_buf()));
    }
    Ok(())
}

fn check(path: &Path, file: File) -> Result<Opened, FileError> {
    let metadata = file.metadata().map_err(|error| unreadable(path, &error.to_string()))?;
    must_be_file(path, &metadata)?;
    if metadata.len() == 0 && shows_a_process(path, &file) {
        return Err(unreadable(path, PROCESS));
    }
    Ok(Opened { file, size: metadata.len(), stamp: spot::stamp(&metadata) })
}

/// Whether this is a secret of a process in a `/proc` that is mounted somewhere else.
#[cfg(target_os = "linux")]
fn shows_a_process(path: &Path, file: &File) -> bool {
    let real = resolve::real_path(path);
    let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    PROCESS_SECRETS.contains(&name)
        && rustix::fs::fstatfs(file).map_or(true, |system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn shows_a_process(_: &Path, _: &File) -> bool {
    false
}

/// Opening must not wait for the other end of a pipe nor take over a terminal.
#[cfg(unix)]
fn options(follow: Follow) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let links = match follow {
        Follow::Links => OFlags::empty(),
        Follow::Nothing => OFlags::NOFOLLOW,
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY | links).bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options(_: Follow) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn refused(path: &Path) -> FileError {
        open(path).unwrap_err()
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        symlink(at("file"), at("link")).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        symlink(at("pipe"), at("pipe-link")).unwrap();

        assert_eq!(open(&at("file")).unwrap().size, 1);
        assert_eq!(open(&at("link")).unwrap().size, 1);
        assert_eq!(refused(dir.path()), FileError::IsDirectory(dir.path().to_path_buf()));
        for name in ["socket", "pipe", "pipe-link"] {
            assert_eq!(refused(&at(name)), FileError::NotRegular(at(name)), "{name}");
        }
        assert!(open_found(&at("file")).is_ok());
        assert!(open_found(&at("link")).is_err());
        assert_eq!(open_found(&at("pipe")).unwrap_err(), FileError::NotRegular(at("pipe")));
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();

        assert!(matches!(refused(&dir.path().join("none")), FileError::Missing { .. }));
        assert!(matches!(refused(&dir.path().join("a")), FileError::Unreadable { .. }));
        assert!(matches!(refused(&dir.path().join("nul\0")), FileError::Unreadable { .. }));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_and_the_inside_of_processes_are_refused_through_any_link() {
        let dir = tempfile::tempdir().unwrap();
        let link = |name: &str, target: &str| {
            let path = dir.path().join(name);
            symlink(target, &path).unwrap();
            path
        };
        for (n, target) in ["/dev/zero", "/dev/urandom", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/1"]
            .into_iter()
            .enumerate()
        {
            assert!(matches!(refused(Path::new(target)), FileError::NotRegular(_)), "{target}");
            assert!(
                matches!(refused(&link(&format!("dev{n}"), target)), FileError::NotRegular(_)),
                "{target}"
            );
        }
        let process = link("process", "/proc/self");
        for path in [
            Path::new("/proc/self/environ"),
            Path::new("/proc/thread-self/environ"),
            Path::new("/proc/self/root/proc/self/maps"),
            Path::new("/proc/kcore"),
            &process.join("mem"),
            &process.join("cmdline"),
            &process.join("task/../environ"),
        ] {
            let error = refused(path);
            let wanted = matches!(&error, FileError::Unreadable { reason, .. } if reason == PROCESS);
            assert!(wanted, "{}: {error}", path.display());
        }
        assert!(open(Path::new("/proc/self/status")).is_ok());
        assert!(open(Path::new("/proc/cpuinfo")).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_secret_of_a_process_is_known_by_its_file_system_too() {
        let secret = open_found(Path::new("/proc/self/environ")).unwrap_err();
        assert_eq!(secret, unreadable(Path::new("/proc/self/environ"), PROCESS));

        let dir = tempfile::tempdir().unwrap();
        let harmless = dir.path().join("environ");
        fs::write(&harmless, "").unwrap();
        assert!(open_found(&harmless).is_ok());
    }
}
