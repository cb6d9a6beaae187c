//! One training run: what its supervisor has written down about it, and what follows from that and from
//! whether the supervisor is still there. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_core::jobs::Job;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::fields::Names;

/// Least time between two looks at the metrics of a run that goes on, in seconds.
pub(crate) const PAUSE: u64 = 30 * 60;

/// The programs of a run.
pub(super) const PARTS: [&str; 3] = ["api", "trainer", "env"];

/// What the supervisor writes down about a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    pub(crate) run_id: String,
    /// The background job of the supervisor.
    pub(super) job: String,
    pub(crate) environment: String,
    pub(super) environment_file: String,
    pub(crate) config_path: String,
    pub(crate) config: Map<String, Value>,
    pub(crate) wandb_project: String,
    pub(crate) wandb_run_name: String,
    pub(super) wandb_name: String,
    pub(super) status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed_part: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running_since: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checked_at: Option<u64>,
    pub(super) parts: BTreeMap<String, Part>,
    pub(crate) logs: BTreeMap<String, String>,
}

/// One program of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    pid: u32,
    code: Option<i64>,
}

/// A run as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) record: Record,
    pub(super) job: Option<Job>,
}

impl Run {
    /// Whether its supervisor is there.
    pub(crate) fn goes_on(&self) -> bool {
        self.job.as_ref().is_some_and(|job| !job.state.is_over())
    }

    /// Whether its record leaves open how it ends.
    fn is_open(&self) -> bool {
        matches!(self.record.status.as_str(), "starting" | "running")
    }

    /// Whether there may be more of it to see: its supervisor may be there a moment longer.
    pub(crate) fn trains(&self) -> bool {
        self.is_open() && self.goes_on()
    }

    /// How it stands, in a word.
    pub(crate) fn status(&self) -> &str {
        if self.is_open() && !self.goes_on() { "lost" } else { &self.record.status }
    }

    /// What went wrong, if something did.
    pub(crate) fn error(&self) -> Option<String> {
        let lost = || "nobody saw how it ended: the machine, or what looked after it, was stopped".to_owned();
        if self.status() == "lost" { Some(lost()) } else { self.record.error.clone() }
    }

    /// Now, in seconds since 1970, while it is trained.
    fn now(&self) -> Option<u64> {
        self.job.as_ref().filter(|_| self.trains()).map(|job| job.started_at + job.ran_for.as_secs())
    }

    /// How long its metrics must not be asked for again, in seconds; nothing once it is over.
    pub(crate) fn must_wait(&self) -> Option<u64> {
        let since = self.now()?.saturating_sub(self.record.checked_at?);
        PAUSE.checked_sub(since).filter(|left| *left > 0)
    }

    /// How long it has been trained, in seconds.
    fn trained(&self) -> u64 {
        let until = self.record.ended_at.or_else(|| self.now());
        self.record.running_since.zip(until).map_or(0, |(since, until)| until.saturating_sub(since))
    }

    pub(crate) fn names(&self) -> Names {
        Names {
            project: self.record.wandb_project.clone(),
            trainer: self.record.wandb_run_name.clone(),
            environment: self.record.wandb_name.clone(),
        }
    }

    /// What is known of it here, without asking anybody.
    pub(crate) fn told(&self) -> Value {
        let part = |name: &str| match self.record.parts.get(name) {
            None => "not started".to_owned(),
            Some(Part { code: Some(code), .. }) => format!("exited ({code})"),
            Some(_) if self.goes_on() => "running".to_owned(),
            Some(_) => "gone".to_owned(),
        };
        let parts: Map<String, Value> =
            PARTS.iter().map(|name| ((*name).to_owned(), json!(part(name)))).collect();
        let mut told = json!({
            "run_id": self.record.run_id,
            "status": self.status(),
            "environment": self.record.environment,
            "running_time_minutes": minutes(self.trained()),
            "processes": parts,
            "wandb_project": self.record.wandb_project,
            "wandb_run_name": self.record.wandb_run_name,
            "logs": self.record.logs,
        });
        if let Some(error) = self.error() {
            crate::api::set(&mut told, "error", json!(error));
        }
        told
    }

    pub(crate) fn log(&self, part: &str) -> Option<&str> {
        self.record.logs.get(part).map(String::as_str)
    }

    /// The log of the program that failed.
    pub(super) fn failed_log(&self) -> Option<&str> {
        self.log(self.record.failed_part.as_deref()?)
    }
}

/// Seconds as minutes with one place.
fn minutes(seconds: u64) -> f64 {
    (Duration::from_secs(seconds).as_secs_f64() / 6.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use hermes_core::jobs::JobState;

    use super::*;

    fn run(status: &str, state: Option<JobState>, checked_at: Option<u64>) -> Run {
        let record = Record {
            run_id: "0a1b2c3d".to_owned(),
            status: status.to_owned(),
            running_since: Some(1100),
            checked_at,
            parts: [("api".to_owned(), Part { pid: 7, code: None })].into(),
            ..Record::default()
        };
        let job = state.map(|state| Job {
            id: "proc_1".to_owned(),
            session: "rl_training".to_owned(),
            command: String::new(),
            cwd: "/w".into(),
            pid: 6,
            started_at: 1000,
            ran_for: Duration::from_secs(1900),
            state,
            found_again: false,
            notify: false,
            watch: Vec::new(),
            watch_hit: false,
        });
        Run { record, job }
    }

    #[test]
    fn a_run_that_nobody_looks_after_any_more_is_lost() {
        assert_eq!(run("running", Some(JobState::Running), None).status(), "running");
        for gone in [None, Some(JobState::Lost), Some(JobState::Exited(1))] {
            let lost = run("running", gone, None);
            assert_eq!((lost.status(), lost.error().is_some()), ("lost", true));
            assert_eq!(
                lost.told()["processes"],
                json!({ "api": "gone", "trainer": "not started", "env": "not started" })
            );
        }
        assert_eq!(run("completed", None, None).status(), "completed");
    }

    #[test]
    fn metrics_may_be_asked_for_twice_an_hour_while_it_goes_on() {
        let waits = |checked_at| run("running", Some(JobState::Running), checked_at).must_wait();

        assert_eq!(waits(None), None);
        assert_eq!(waits(Some(2900)), Some(1800));
        assert_eq!(waits(Some(2000)), Some(900));
        assert_eq!(waits(Some(1100)), None);
        assert_eq!(run("completed", Some(JobState::Exited(0)), Some(2900)).must_wait(), None);
        assert_eq!(run("failed", Some(JobState::Running), Some(2900)).must_wait(), None);
    }

    #[test]
    fn how_long_it_has_been_trained_is_told_in_minutes() {
        assert_eq!(run("running", Some(JobState::Running), None).told()["running_time_minutes"], 30.0);
        assert_eq!(run("starting", None, None).told()["running_time_minutes"], 0.0);
    }
}
