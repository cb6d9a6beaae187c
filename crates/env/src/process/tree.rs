//! Everything a process started: found, asked to stop, killed.
//!
//! A process is one of ours when it is in the session the root leads, descends from one that is,
//! carries the root's mark among its variables, or holds a pipe that the root was given. The mark
//! finds those that left for a session of their own and whose parents are gone, the pipes those of
//! them that were started without variables. Signals go through descriptors checked against the
//! start time, so a number that was given to somebody else is never hit.

#![expect(clippy::disallowed_methods, reason = "processes are listed below /proc")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::host::Host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::process::MARK;
use crate::process::tether::Tether;

/// Rounds of killing before giving up; each finds what the last one missed.
const ROUNDS: usize = 50;

/// How long one round waits for what it killed.
const ROUND: Duration = Duration::from_millis(200);

/// What identifies a tree.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// The root's number, as long as it is certain to be still its own.
    pub(crate) pid: Option<Pid>,
    /// The value of its mark.
    pub(crate) mark: String,
    /// The pipes it was given, where whoever still holds one is to be found.
    pub(crate) tether: Tether,
}

/// One process, as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) pid: i32,
    parent: i32,
    session: i32,
    /// In ticks since the machine started; with the number it names a process for ever.
    pub(crate) started: u64,
    gone: bool,
}

/// Stops the tree: first by asking, after `grace` by force. Returns when nothing of it is left.
pub(crate) fn stop(root: &Root, grace: Duration, host: &Arc<dyn Host>) {
    let asked = members(root);
    if asked.is_empty() {
        return;
    }
    if !grace.is_zero() {
        let open: Vec<OwnedFd> = asked.iter().filter_map(|seen| signalled(seen, Signal::TERM)).collect();
        wait_all(&open, grace, host);
    }
    for _ in 0..ROUNDS {
        // The group first: it goes all at once, so that nothing in it can fork its way out.
        if let Some(pid) = root.pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let left = members(root);
        if left.is_empty() {
            return;
        }
        let open: Vec<OwnedFd> = left.iter().filter_map(|seen| signalled(seen, Signal::KILL)).collect();
        wait_all(&open, ROUND, host);
    }
}

/// What belongs to the tree and still runs.
pub(crate) fn members(root: &Root) -> Vec<Seen> {
    let all = everything();
    let mut ours: BTreeSet<i32> = BTreeSet::new();
    for seen in all.values() {
        let in_session = root.pid.is_some_and(|pid| {
            let pid = pid.as_raw_nonzero().get();
            seen.session == pid || seen.pid == pid
        });
        let marked = || !root.mark.is_empty() && carries(seen.pid, &root.mark);
        if in_session || marked() || root.tether.is_held_by(seen) {
            ours.insert(seen.pid);
        }
    }
    // Children of children, until there are no more to find.
    loop {
        let more: Vec<i32> = all
            .values()
            .filter(|seen| ours.contains(&seen.parent) && !ours.contains(&seen.pid))
            .map(|seen| seen.pid)
            .collect();
        if more.is_empty() {
            break;
        }
        ours.extend(more);
    }
    let own = std::process::id().cast_signed();
    all.into_values().filter(|seen| ours.contains(&seen.pid) && seen.pid != own && !seen.gone).collect()
}

/// Whether this very process still runs.
pub(crate) fn is_alive(pid: i32, started: u64) -> bool {
    look(pid).is_some_and(|seen| seen.started == started && !seen.gone)
}

/// One process, if it is there.
pub(crate) fn look(pid: i32) -> Option<Seen> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// A descriptor for this very process.
pub(crate) fn open(pid: i32, started: u64) -> Option<OwnedFd> {
    let fd = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    // Looked at after opening: if it is still the one that was seen, the descriptor is its.
    is_alive(pid, started).then_some(fd)
}

/// Waits until all of them are gone, for at most that long.
pub(crate) fn wait_all(open: &[OwnedFd], limit: Duration, host: &Arc<dyn Host>) {
    let until = host.now() + limit;
    for fd in open {
        let left = until.saturating_sub(host.now());
        let Ok(left) = Timespec::try_from(left) else { return };
        // An interrupted wait is followed by the next; the deadline holds all the same.
        let _ = poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&left));
    }
}

fn signalled(seen: &Seen, signal: Signal) -> Option<OwnedFd> {
    let fd = open(seen.pid, seen.started)?;
    pidfd_send_signal(&fd, signal).ok()?;
    Some(fd)
}

fn everything() -> BTreeMap<i32, Seen> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| Some((pid, look(pid)?))).collect()
}

/// Whether the process was started with the mark.
fn carries(pid: i32, mark: &str) -> bool {
    let Ok(variables) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    variables.split(|byte| *byte == 0).any(|pair| {
        pair.strip_prefix(MARK.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="))
            .is_some_and(|value| value == mark.as_bytes())
    })
}

/// Reads a line of `/proc/PID/stat`; the name in brackets may hold anything.
fn parse(pid: i32, line: &str) -> Option<Seen> {
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    let state = *fields.first()?;
    Some(Seen {
        pid,
        parent: number(1)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        gone: matches!(state, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_whatever_the_program_is_called() {
        let line = "42 (a) b) (c) S 7 42 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";

        let seen = parse(42, line).unwrap();

        assert_eq!(seen, Seen { pid: 42, parent: 7, session: 9, started: 12345, gone: false });
        assert!(parse(42, "42 (a) Z 7 42 9").is_none());
    }

    #[test]
    fn this_process_is_alive_and_another_start_time_is_not_it() {
        let own = std::process::id().cast_signed();
        let seen = look(own).unwrap();

        assert!(is_alive(own, seen.started));
        assert!(!is_alive(own, seen.started + 1));
        assert!(open(own, seen.started + 1).is_none());
    }
}
