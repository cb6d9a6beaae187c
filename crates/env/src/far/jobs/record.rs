//! What is known about a job over there.

use std::path::PathBuf;
use std::time::Duration;

use hermes_core::jobs::{Job, JobState};
use serde::{Deserialize, Serialize};

use crate::jobs::{own_process, still_runs};

/// What is written down about a job when it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    pub(super) mark: String,
    pub(super) watch: Vec<String>,
    pub(super) notify: bool,
    /// Seconds since 1970, by the clock of this machine.
    pub(super) started_at: u64,
    /// Who started it: a process of this machine.
    pub(super) owner: String,
}

/// A job as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) record: Record,
    pub(super) state: JobState,
    pub(super) pid: u32,
    pub(super) ran_for: Duration,
    /// How long ago it ended, by the clock there.
    pub(super) over_for: Option<Duration>,
    pub(super) told: Told,
}

/// How much of a job somebody has heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Told {
    /// Bytes of its log.
    pub(super) bytes: u64,
    /// Whether its end is told.
    pub(super) end: bool,
    /// Whether something that was watched for was seen.
    pub(super) hit: bool,
}

impl Record {
    /// Whether somebody would want to be told something about it.
    pub(super) fn is_to_be_told(&self) -> bool {
        self.notify || !self.watch.is_empty()
    }

    /// Whether whoever started it is gone.
    pub(super) fn is_orphan(&self) -> bool {
        !still_runs(&self.owner)
    }

    /// The job as it is when its place was made anew.
    pub(super) fn lost(self) -> Found {
        let (state, told) = (JobState::Lost, Told::default());
        Found { record: self, state, pid: 0, ran_for: Duration::ZERO, over_for: None, told }
    }
}

impl Found {
    pub(super) fn is_visible_to(&self, session: &str) -> bool {
        self.record.session == session || self.record.is_orphan()
    }

    pub(super) fn job(&self) -> Job {
        let Record { id, session, command, cwd, watch, notify, started_at, owner, .. } = self.record.clone();
        Job {
            id,
            session,
            command,
            cwd,
            pid: self.pid,
            started_at,
            ran_for: self.ran_for,
            state: self.state,
            found_again: owner != own_process(),
            notify,
            watch,
            watch_hit: self.told.hit,
        }
    }
}

/// Reads what the script says about jobs; oldest first. What is not whole is passed over.
pub(super) fn read(said: &[u8]) -> Vec<Found> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines();
    let now = lines.find_map(|line| line.strip_prefix("now ")?.trim().parse().ok()).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(words) = line.strip_prefix("job ") else { continue };
        let record = lines.next().and_then(|text| serde_json::from_str(text).ok());
        found.extend(record.and_then(|record| one(record, words, now)));
    }
    found.sort_by(|a, b| (a.record.started_at, &a.record.id).cmp(&(b.record.started_at, &b.record.id)));
    found
}

fn one(record: Record, words: &str, now: u64) -> Option<Found> {
    let words: Vec<&str> = words.split(' ').collect();
    let [id, lives, pid, at, status, over, killed, bytes, end, hit] = words.as_slice() else { return None };
    if *id != record.id {
        return None;
    }
    let number = |word: &str| word.parse::<u64>().ok();
    let state = match status.parse() {
        Ok(code) if *killed == "1" => JobState::Killed(code),
        Ok(code) => JobState::Exited(code),
        Err(_) if *lives == "1" => JobState::Running,
        Err(_) => JobState::Lost,
    };
    let (over, at) = (number(over), number(at).unwrap_or(now));
    Some(Found {
        state,
        pid: pid.parse().unwrap_or_default(),
        ran_for: Duration::from_secs(over.unwrap_or(now).saturating_sub(at)),
        over_for: state.is_over().then(|| Duration::from_secs(now.saturating_sub(over.unwrap_or(at)))),
        told: Told { bytes: number(bytes).unwrap_or_default(), end: *end == "1", hit: *hit == "1" },
        record,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str) -> Record {
        Record {
            id: id.to_owned(),
            session: "s".to_owned(),
            command: "a\nb".to_owned(),
            cwd: "/w".into(),
            mark: "m.".to_owned(),
            watch: Vec::new(),
            notify: true,
            started_at: 5,
            owner: "1.1".to_owned(),
        }
    }

    fn line(id: &str, words: &str) -> String {
        format!("job {id} {words}\n{}\n", serde_json::to_string(&record(id)).unwrap())
    }

    #[test]
    fn states_follow_from_what_lies_there() {
        let said = format!(
            "now 100\n{}{}{}{}{}job x\nhalf",
            line("a", "1 7 90 - - 0 - - -"),
            line("b", "0 7 90 3 95 0 40 1 1"),
            line("c", "0 7 90 143 95 1 - - -"),
            line("d", "0 7 90 - - 0 - - -"),
            line("e", "0 7"),
        );

        let found = read(said.as_bytes());

        let states: Vec<_> = found.iter().map(|found| found.state).collect();
        assert_eq!(states, [JobState::Running, JobState::Exited(3), JobState::Killed(143), JobState::Lost]);
        let [running, ended, ..] = found.as_slice() else { panic!() };
        assert_eq!((running.ran_for.as_secs(), running.over_for), (10, None));
        assert_eq!((ended.ran_for.as_secs(), ended.over_for), (5, Some(Duration::from_secs(5))));
        assert_eq!(ended.told, Told { bytes: 40, end: true, hit: true });
        assert_eq!(ended.job().command, "a\nb");
    }
}
