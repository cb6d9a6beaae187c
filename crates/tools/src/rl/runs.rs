//! Training runs: a record of each in a file that its supervisor writes, and the background job that the
//! supervisor is. Both outlive the session that started the run, and this program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::cx::ToolCx;
use hermes_core::environment::{ShellState, Workplace};
use hermes_core::error::ToolError;
use hermes_core::files::{ContentReport, FileError, FilePage, PageRequest, SearchQuery, SearchTarget};
use hermes_core::jobs::{Job, JobInput, Jobs, NewJob};
use hermes_core::permit::{Exec, Permit};
use serde_json::{Map, Value, json};

use super::desk::Chosen;
use super::fields::{Names, configuration};
use super::grounds::Grounds;
use super::record::{PARTS, Record, Run};
use super::{failed, yaml};
use crate::hash::sha256_hex;
use crate::media::shelf;

/// The runs' name among the effects of a call.
pub(crate) const RUNS: &str = "training runs";

/// What the jobs of runs belong to: they are the home's, and so no session's.
const OWNER: &str = "rl_training";

/// How long each has until the next is started, in seconds.
const WAITS: [(&str, u64); 3] = [("api", 5), ("trainer", 120), ("env", 10)];
const LONGEST_WAIT: u64 = 3600;

/// How long a supervisor has to say that it is there, and to stop everything.
const START: Duration = Duration::from_secs(20);
const STOP: Duration = Duration::from_secs(45);

/// Time between two looks.
const BREATH: Duration = Duration::from_millis(100);

/// Longest record, and how much of a log is shown.
const LONGEST_RECORD: u64 = 1024 * 1024;
const TAIL_LINES: u64 = 25;
const TAIL_CHARS: usize = 3000;

/// The runs, as a call may use them.
pub(crate) struct Runs<'a> {
    cx: &'a ToolCx,
    grounds: Grounds,
    place: Arc<dyn Workplace>,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(cx: &'a ToolCx) -> Result<Self, ToolError> {
        let grounds = Grounds::of(cx)?;
        let place = cx.environments().find(grounds.machine()?)?;
        Ok(Self { cx, grounds, place })
    }

    fn jobs(&self) -> Result<&dyn Jobs, ToolError> {
        self.place.jobs().ok_or_else(|| failed("this environment has no background processes"))
    }

    /// All runs, the latest first.
    pub(crate) async fn all(&self) -> Result<Vec<Run>, ToolError> {
        // Jobs are looked at first: one that is over has written its last word by then.
        let jobs = self.jobs()?.list(OWNER).await?;
        let mut runs = Vec::new();
        for file in self.grounds.files(self.cx, &self.grounds.logs, "run_*.json").await? {
            // A record that cannot be read tells nothing; the others do.
            if let Some(record) = self.record(file).await? {
                let job = jobs.iter().find(|job| job.id == record.job).cloned();
                runs.push(Run { record, job });
            }
        }
        runs.sort_by(|one, other| {
            (other.record.started_at, &one.record.run_id).cmp(&(one.record.started_at, &other.record.run_id))
        });
        Ok(runs)
    }

    /// One run.
    pub(crate) async fn find(&self, id: &str) -> Result<Run, ToolError> {
        let id = id.trim();
        let mut runs = self.all().await?;
        if let Some(at) = runs.iter().position(|run| run.record.run_id == id) {
            return Ok(runs.swap_remove(at));
        }
        let known: Vec<&str> = runs.iter().map(|run| run.record.run_id.as_str()).take(20).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ToolError::Arguments(format!("there is no run `{id}`. There are: {known}")))
    }

    async fn record(&self, file: PathBuf) -> Result<Option<Record>, ToolError> {
        match self.cx.files().whole(&file, LONGEST_RECORD).await {
            Ok(whole) => Ok(serde_json::from_slice(&whole.bytes).ok()),
            Err(ToolError::File(FileError::Missing { .. })) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Starts a run of what was chosen.
    pub(crate) async fn start(&self, chosen: &Chosen, permit: Permit<Exec>) -> Result<Run, ToolError> {
        if let Some(busy) = self.all().await?.iter().find(|run| run.goes_on()) {
            return Err(failed(format!(
                "run {} of {} is still {}; its programs have the ports that every run needs. \
                 rl_stop_training stops it",
                busy.record.run_id,
                busy.record.environment,
                busy.status()
            )));
        }
        let jobs = self.jobs()?;
        let new = NewJob {
            session: OWNER.to_owned(),
            shell: ShellState::default(),
            terminal: None,
            notify: false,
            watch: Vec::new(),
        };
        // Nothing costs anything before the supervisor has been told what to do.
        let job = jobs.start(permit, new).await?;
        let begun = match self.order(chosen, &job).await {
            Ok(record) => self.begun(record, &job.id).await,
            Err(why) => Err(why),
        };
        if begun.is_err() {
            // What has not begun is not left behind; why it has not is told.
            let _ = jobs.kill(OWNER, &job.id).await;
        }
        begun
    }

    /// Writes the configuration, and tells the supervisor what to run.
    async fn order(&self, chosen: &Chosen, job: &Job) -> Result<Record, ToolError> {
        // The job's own name is random, and long.
        let id: String = sha256_hex(&[job.id.as_bytes()]).chars().take(8).collect();
        let name = chosen.found.environment.name.as_str();
        let names = Names::of(name, &id, &chosen.edits);
        let config = yaml::document(&configuration(&chosen.edits, &names));
        let config_path = self.grounds.configs().join(format!("run_{id}.yaml"));
        let config_path = shelf::put(self.cx, &config_path, config.into_bytes()).await?;
        let log = |part: &str| self.grounds.logs.join(format!("{part}_{id}.log")).display().to_string();
        let record = Record {
            run_id: id.clone(),
            job: job.id.clone(),
            environment: name.to_owned(),
            environment_file: chosen.found.file.display().to_string(),
            config_path: config_path.display().to_string(),
            config: chosen.edits.clone(),
            wandb_project: names.project,
            wandb_run_name: names.trainer,
            wandb_name: names.environment,
            status: "starting".to_owned(),
            logs: PARTS.iter().map(|part| ((*part).to_owned(), log(part))).collect(),
            ..Record::default()
        };
        let order = json!({ "record": record, "secrets": self.secrets()?, "waits": self.waits()? });
        self.tell(&job.id, &order).await?;
        Ok(record)
    }

    /// The keys that each program needs, and no others.
    fn secrets(&self) -> Result<Value, ToolError> {
        let keys = self.cx.keys()?;
        let given = |names: &[&str]| -> Map<String, Value> {
            let value = |name: &&str| Some(((*name).to_owned(), json!(keys.key(name)?.trim())));
            names.iter().filter_map(value).collect()
        };
        let metrics = ["WANDB_API_KEY", "WANDB_ENTITY", "WANDB_BASE_URL"];
        let [key, entity, base] = metrics;
        Ok(
            json!({ "api": {}, "trainer": given(&["TINKER_API_KEY", key, entity, base]), "env": given(&metrics) }),
        )
    }

    fn waits(&self) -> Result<Value, ToolError> {
        let keys = self.cx.keys()?;
        let wait = |(part, usual): (&str, u64)| {
            let wanted = keys.setting(&format!("rl.waits.{part}")).and_then(|wait| wait.as_f64());
            let most = u32::try_from(LONGEST_WAIT).unwrap_or(u32::MAX);
            (part.to_owned(), wanted.map_or(json!(usual), |wait| json!(wait.clamp(0.0, f64::from(most)))))
        };
        Ok(WAITS.map(wait).into_iter().collect::<Map<_, _>>().into())
    }

    /// Waits until the supervisor has written down that the run has begun.
    async fn begun(&self, record: Record, job: &str) -> Result<Run, ToolError> {
        let file = self.grounds.logs.join(format!("run_{}.json", record.run_id));
        let mut waited = Duration::ZERO;
        loop {
            let now = self.jobs()?.look(OWNER, job).await?;
            if let Some(record) = self.record(file.clone()).await? {
                return Ok(Run { record, job: Some(now) });
            }
            if now.state.is_over() || waited >= START {
                let said = self.jobs()?.tail(OWNER, job, TAIL_CHARS).await.unwrap_or_default();
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                return Err(failed(format!("the run could not be started: {said}")));
            }
            self.pause(BREATH).await?;
            waited += BREATH;
        }
    }

    async fn tell(&self, job: &str, what: &Value) -> Result<(), ToolError> {
        let line = format!("{what}\n").into_bytes();
        Ok(self.jobs()?.write(OWNER, job, JobInput::Bytes(line)).await?)
    }

    async fn pause(&self, time: Duration) -> Result<(), ToolError> {
        let stopped = std::pin::pin!(self.cx.cancelled().cancelled());
        match select(self.cx.host().sleep(time), stopped).await {
            Either::Left(_) => Ok(()),
            Either::Right(_) => Err(ToolError::Cancelled),
        }
    }

    /// Remembers that the metrics of a run have been asked for just now.
    pub(crate) async fn checked(&self, run: &Run) -> Result<(), ToolError> {
        if !run.trains() {
            return Ok(());
        }
        let told = self.tell(&run.record.job, &json!({ "do": "checked" })).await;
        if told.is_err() && !self.find(&run.record.run_id).await?.trains() {
            // It ended while its metrics were asked for: those of a run that is over have no pause.
            return Ok(());
        }
        told?;
        let file = self.grounds.logs.join(format!("run_{}.json", run.record.run_id));
        for _ in 0..20 {
            let record = self.record(file.clone()).await?;
            if record
                .is_none_or(|record| record.checked_at.is_some_and(|at| run.record.checked_at != Some(at)))
            {
                break;
            }
            self.pause(BREATH).await?;
        }
        Ok(())
    }

    /// Stops a run: its programs may clean up first, and are stopped for good if they do not.
    pub(crate) async fn stop(&self, run: &Run) -> Result<Run, ToolError> {
        let (jobs, job) = (self.jobs()?, run.record.job.as_str());
        let asked = self.tell(job, &json!({ "do": "stop" })).await;
        if asked.is_ok() {
            let over = jobs.wait(OWNER, job, STOP);
            let cancelled = std::pin::pin!(self.cx.cancelled().cancelled());
            // Who takes the call back wants it stopped all the same, only sooner.
            let _ = select(over, cancelled).await;
        }
        if jobs.look(OWNER, job).await.is_ok_and(|job| !job.state.is_over()) {
            jobs.kill(OWNER, job).await?;
        }
        self.find(&run.record.run_id).await
    }

    /// The last lines of the log of the program that failed.
    pub(crate) async fn last_words(&self, run: &Run) -> Option<String> {
        let log = run.failed_log()?;
        let request = |first, count| PageRequest { first, count, max_line_chars: 500, max_chars: TAIL_CHARS };
        let FilePage::Text(page) = self.cx.files().page(log, request(1, 1)).await.ok()? else { return None };
        let first = page.total_lines.saturating_sub(TAIL_LINES) + 1;
        let FilePage::Text(page) = self.cx.files().page(log, request(first, TAIL_LINES)).await.ok()? else {
            return None;
        };
        let lines: Vec<&str> = page.lines.iter().map(|line| line.text).collect();
        Some(lines.join("\n")).filter(|text| !text.trim().is_empty())
    }

    /// The last of the texts in a log that a pattern finds: what follows `mark` there.
    pub(crate) async fn last_after(&self, log: &str, mark: &str) -> Option<String> {
        let query = |offset| SearchQuery {
            target: SearchTarget::Content {
                pattern: format!("{mark} *tinker://[^ ]+"),
                report: ContentReport::Lines,
                context: 0,
            },
            file_glob: None,
            limit: 1,
            offset,
        };
        let total = self.cx.files().search(log, query(0)).await.ok()?.total;
        let last = usize::try_from(total.checked_sub(1)?).ok()?;
        let report = self.cx.files().search(log, query(last)).await.ok()?;
        let line = report.lines.into_iter().rfind(|line| line.matched)?.text;
        let place = line.split_whitespace().find(|word| word.starts_with("tinker://"))?;
        Some(place.to_owned())
    }
}
