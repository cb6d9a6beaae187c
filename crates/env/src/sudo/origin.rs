//! Who asks for the password: it has to be the real `sudo`, started by a command of ours.
//!
//! The system lets nobody look into a process with other rights, so the file that `sudo` runs from can
//! only be seen by root. What everybody can see is enough: only a set-uid program has the user it was
//! started by and the rights of root, and only what we started descends from us. Variables that would
//! change what it loads mean nothing to a set-uid program.

#![expect(clippy::disallowed_methods, reason = "processes are looked up below /proc")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::SUDO;
use super::words::shown;
use crate::process::tree;

/// Most ancestors that are looked at.
const FURTHEST: usize = 256;

/// The set-uid bit.
const SET_UID: u32 = 0o4000;

/// A process, named for ever: numbers are used again, start times are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) pid: i32,
    pub(super) started: u64,
}

/// Who asks, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct From {
    /// The `sudo` that asks.
    pub(super) sudo: Identity,
    /// The process of the command it belongs to.
    pub(super) command: Identity,
}

/// What everybody can see of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    name: String,
    parent: i32,
    tracer: i32,
    /// The user it was started by, and the one whose rights it has.
    user: (u32, u32),
    /// Owner and mode of its file, where that can be seen.
    file: Option<(u32, u32)>,
}

/// Finds out for whom the helper with this number asks.
pub(super) fn of_helper(helper: i32) -> Result<From, String> {
    let gone = || "the process that asked is gone".to_owned();
    let asks = facts(helper).ok_or_else(gone)?;
    let sudo = identity(asks.parent).ok_or_else(gone)?;
    let seen = facts(sudo.pid).ok_or_else(gone)?;
    let ours = rustix::process::getuid().as_raw();
    is_sudo(&seen, ours)?;
    if asks.user != (ours, ours) {
        return Err("the helper belongs to another user".to_owned());
    }
    let command = descends(seen.parent).ok_or("it was not started by a command of this session")?;
    // Looked at again: had it gone meanwhile, its number could be somebody else's.
    let unchanged = identity(sudo.pid) == Some(sudo)
        && facts(helper).is_some_and(|now| now == asks)
        && facts(sudo.pid).is_some_and(|now| now == seen);
    if unchanged { Ok(From { sudo, command }) } else { Err(gone()) }
}

/// The words a process was started with.
pub(super) fn command_line(process: Identity) -> String {
    shown(&fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default())
}

/// Whether a process is what only the real `sudo` can be.
fn is_sudo(seen: &Facts, ours: u32) -> Result<(), String> {
    let no = |why: String| Err(format!("`{}` asked for the password and is not sudo: {why}", seen.name));
    if seen.name != SUDO {
        return no("it has another name".to_owned());
    }
    if seen.tracer != 0 {
        return no(format!("process {} looks into it", seen.tracer));
    }
    let (by, rights) = seen.user;
    if rights != 0 || by != ours {
        return no("it does not have the rights of root on behalf of this user".to_owned());
    }
    match seen.file {
        Some((owner, mode)) if owner != 0 || mode & SET_UID == 0 => {
            no("its file does not give the rights of root".to_owned())
        }
        None if ours == 0 => no("its file cannot be seen".to_owned()),
        _ => Ok(()),
    }
}

/// The child of ours that a process is, or descends from.
fn descends(pid: i32) -> Option<Identity> {
    let own = std::process::id().cast_signed();
    let mut at = pid;
    for _ in 0..FURTHEST {
        let found = identity(at)?;
        let parent = facts(at)?.parent;
        if parent == own {
            return Some(found);
        }
        at = parent;
    }
    None
}

fn identity(pid: i32) -> Option<Identity> {
    (pid > 0).then(|| tree::look(pid))?.map(|seen| Identity { pid, started: seen.started })
}

fn facts(pid: i32) -> Option<Facts> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let file = fs::metadata(format!("/proc/{pid}/exe")).ok();
    parse(&status, file.map(|file| (file.uid(), file.mode())))
}

fn parse(status: &str, file: Option<(u32, u32)>) -> Option<Facts> {
    let value = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(':'));
        lines.find_map(|(key, value)| (key == name).then(|| value.trim()))
    };
    let mut users = value("Uid")?.split_ascii_whitespace().map(str::parse);
    Some(Facts {
        name: value("Name")?.to_owned(),
        parent: value("PPid")?.parse().ok()?,
        tracer: value("TracerPid")?.parse().ok()?,
        user: (users.next()?.ok()?, users.next()?.ok()?),
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> Facts {
        Facts { name: "sudo".to_owned(), parent: 5, tracer: 0, user: (1000, 0), file: None }
    }

    #[test]
    fn the_real_sudo_is_known_by_what_only_it_can_be() {
        assert_eq!(is_sudo(&real(), 1000), Ok(()));
        let seen_by_root = Facts { user: (0, 0), file: Some((0, 0o104_755)), ..real() };
        assert_eq!(is_sudo(&seen_by_root, 0), Ok(()));
    }

    #[test]
    fn whatever_is_not_the_real_sudo_is_refused() {
        let cases = [
            Facts { name: "bash".to_owned(), ..real() },
            Facts { user: (1000, 1000), ..real() },
            Facts { user: (1001, 0), ..real() },
            Facts { tracer: 77, ..real() },
            Facts { file: Some((1000, 0o104_755)), ..real() },
            Facts { file: Some((0, 0o100_755)), ..real() },
        ];
        for case in cases {
            assert!(is_sudo(&case, 1000).is_err(), "{case:?}");
        }
        let unseen = Facts { user: (0, 0), file: None, ..real() };
        assert!(is_sudo(&unseen, 0).is_err());
    }

    #[test]
    fn the_status_of_a_process_is_read_whatever_it_is_called() {
        let status = "Name:\tsu: do\nUmask:\t0022\nPPid:\t12\nTracerPid:\t3\nUid:\t1000\t0\t0\t0\n";

        let facts = parse(status, None).unwrap();

        let expected =
            Facts { name: "su: do".to_owned(), parent: 12, tracer: 3, user: (1000, 0), file: None };
        assert_eq!(facts, expected);
        assert_eq!(parse("Name:\tx\nUid:\tmany\n", None), None);
    }

    #[test]
    fn a_process_that_does_not_come_from_us_is_not_ours() {
        assert_eq!(descends(1), None);
        assert_eq!(descends(0), None);
        assert!(of_helper(1).is_err());
    }
}
