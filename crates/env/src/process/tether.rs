//! The pipes of a process as a way to find what it started.
//!
//! Variables can be left out and a session can be left, but few programs that are started in the
//! background let go of all three standard streams. Only the ends that a process was given count:
//! whoever holds one of ours has it from us.

#![expect(clippy::disallowed_methods, reason = "what processes hold is listed below /proc")]

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::fstat;

use crate::process::spawn::Child;
use crate::process::tree::{self, Seen};

/// The pipes that a process was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tether {
    /// When the process was started; whoever is older has none of its pipes.
    since: u64,
    ends: Vec<PipeEnd>,
}

/// The end of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PipeEnd {
    pipe: u64,
    side: Side,
}

/// What can be done at the end of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Reads,
    Writes,
}

impl Tether {
    /// The pipes of a process that was just started.
    pub(crate) fn of(child: &Child) -> Self {
        let since = tree::look(child.pid.as_raw_nonzero().get()).map_or(u64::MAX, |seen| seen.started);
        let end = |fd: Option<&OwnedFd>, side| {
            let pipe = fstat(fd?.as_fd()).ok()?.st_ino;
            Some(PipeEnd { pipe, side })
        };
        let ends = [
            end(child.input.as_ref(), Side::Reads),
            end(Some(&child.out), Side::Writes),
            end(child.err.as_ref(), Side::Writes),
        ];
        Self { since, ends: ends.into_iter().flatten().collect() }
    }

    /// The ends as the guardian is told of them: how `ls -l` shows what can be done there, and the pipe.
    pub(crate) fn lines(&self) -> String {
        let line = |end: &PipeEnd| {
            let shown = if end.side == Side::Reads { "lr-x" } else { "l-wx" };
            format!("{shown}:{}\n", end.pipe)
        };
        self.ends.iter().map(line).collect()
    }

    /// Whether this process holds one of them.
    pub(crate) fn is_held_by(&self, seen: &Seen) -> bool {
        if self.ends.is_empty() || seen.started < self.since {
            return false;
        }
        let Ok(held) = fs::read_dir(format!("/proc/{}/fd", seen.pid)) else { return false };
        held.flatten().any(|entry| {
            let pipe = fs::read_link(entry.path()).ok().and_then(|link| pipe_of(link.to_str()?));
            let mut known = self.ends.iter().filter(|end| Some(end.pipe) == pipe).peekable();
            known.peek().is_some() && {
                let number = entry.file_name();
                let told = format!("/proc/{}/fdinfo/{}", seen.pid, number.to_string_lossy());
                let side = fs::read_to_string(told).ok().and_then(|told| side_of(&told));
                known.any(|end| Some(end.side) == side)
            }
        })
    }
}

/// The number of a pipe, from what a descriptor is a link to.
fn pipe_of(link: &str) -> Option<u64> {
    link.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
}

/// What can be done with a descriptor, from what the system tells about it.
fn side_of(told: &str) -> Option<Side> {
    let flags = told.lines().find_map(|line| line.strip_prefix("flags:"))?;
    match u32::from_str_radix(flags.trim(), 8).ok()? & 0o3 {
        0o0 => Some(Side::Reads),
        0o1 => Some(Side::Writes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        assert_eq!(pipe_of("pipe:[4711]"), Some(4711));
        assert_eq!((pipe_of("socket:[4711]"), pipe_of("/tmp/pipe:[1]")), (None, None));
        assert_eq!(side_of("pos:\t0\nflags:\t02000001\nmnt_id:\t9\n"), Some(Side::Writes));
        assert_eq!(side_of("pos:\t0\nflags:\t04000\nmnt_id:\t9\n"), Some(Side::Reads));
        assert_eq!(side_of("flags:\t02\n"), None);
    }

    #[test]
    fn the_other_end_is_not_held() {
        let own = tree::look(std::process::id().cast_signed()).unwrap();
        let (ours, theirs) = rustix::pipe::pipe().unwrap();
        let pipe = fstat(&ours).unwrap().st_ino;
        let of = |side| Tether { since: own.started, ends: vec![PipeEnd { pipe, side }] };

        assert!(of(Side::Reads).is_held_by(&own) && of(Side::Writes).is_held_by(&own));
        drop(theirs);
        assert!(of(Side::Reads).is_held_by(&own) && !of(Side::Writes).is_held_by(&own));
        assert!(!Tether { since: own.started + 1, ..of(Side::Reads) }.is_held_by(&own));
        assert!(!Tether::default().is_held_by(&own));
        drop(ours);
    }
}
