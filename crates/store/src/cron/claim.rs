//! What is due now belongs to one process, before anything runs.
//!
//! In this order, under the lock of `jobs.json`: what dead processes left behind is told; what is due is
//! decided; its rows are added to the record, on the disk; the jobs wait for their next times. Whoever
//! is killed in between has claimed something that nobody else will run, and that is told as
//! interrupted by the next one who looks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_core::cron::{Here, Job, JobError, State};
use hermes_core::schedule::{due, written};
use jiff::Timestamp;

use super::file::JobsFile;
use super::run::{Run, Source};
use super::runs::{NewRun, OURS, Runs};
use super::{CronHome, soon, told};
use crate::disk::{self, Lock};
use crate::error::StoreError;

/// A process that runs jobs, alive until it is dropped.
#[derive(Debug)]
pub struct Worker {
    process: String,
    file: PathBuf,
    _lock: Lock,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A file that stays behind is removed by whoever finds its process gone.
        let _ = disk::remove(&self.file);
    }
}

/// A time of a job that this process is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The run's id.
    pub run: String,
    /// The job, as it is now.
    pub job: Job,
    /// When it was due; nothing when somebody wanted it out of turn.
    pub due: Option<Timestamp>,
}

/// What a look found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claimed {
    /// What this process is to run.
    pub claims: Vec<Claim>,
    /// Times that went by.
    pub missed: Vec<Run>,
    /// What processes left behind that are not there any more.
    pub interrupted: Vec<Run>,
    /// Jobs that cannot be run, and why.
    pub unreadable: Vec<(String, String)>,
    /// When the next job is due.
    pub next: Option<Timestamp>,
}

impl CronHome {
    /// Becomes a process that runs jobs; `unique` is a word that no other process has.
    pub fn worker(&self, unique: &str) -> Result<Worker, StoreError> {
        let process = format!("{OURS}{unique}");
        let file = self.life(&process);
        match disk::try_lock(&file)? {
            Some(lock) => Ok(Worker { process, file, _lock: lock }),
            None => Err(StoreError::Locked { path: file }),
        }
    }

    fn life(&self, process: &str) -> PathBuf {
        self.folder.join("running").join(format!("{process}.lock"))
    }

    /// Claims everything that is due.
    pub fn claim_due(&self, worker: &Worker, here: &Here) -> Result<Claimed, JobError> {
        let runs = self.existing_runs().map_err(|wrong| told(&wrong))?;
        let interrupted = match &runs {
            Some(runs) => self.left_behind(runs, worker, here.now).map_err(|wrong| told(&wrong))?,
            None => Vec::new(),
        };
        if interrupted.is_empty()
            && let Some(soon) = soon::known(self)
            && soon.is_later_than(here.now)
        {
            return Ok(Claimed { next: soon.time(), ..Claimed::default() });
        }
        let mut found = Claimed { interrupted, ..Claimed::default() };
        let claimed = self.with(here.now, &here.zone, |file| {
            note_interrupted(file, &found.interrupted, here)?;
            claim(self, file, worker, here, &mut found)?;
            found.next = file.earliest();
            Ok(())
        });
        if let Err(wrong) = claimed {
            if let Ok(runs) = self.runs() {
                runs.unclaim(&found.claims.iter().map(|claim| claim.run.clone()).collect::<Vec<_>>());
            }
            return Err(wrong);
        }
        Ok(found)
    }

    /// Claims a job out of turn.
    pub fn claim_now(&self, worker: &Worker, name: &str, here: &Here) -> Result<Claim, JobError> {
        let job = self.job(name)?;
        let runs = self.runs().map_err(|wrong| told(&wrong))?;
        for process in runs.processes_of(&job.id).map_err(|wrong| told(&wrong))? {
            // What a dead process left behind is told by the next look, and holds nobody up.
            let alive = disk::try_lock(&self.life(&process)).map_err(|wrong| told(&wrong))?.is_none();
            if alive {
                return Err(JobError::Invalid(format!("`{}` is running now", job.name)));
            }
        }
        let row = NewRun {
            id: run_id(worker, &job.id, here.now),
            job: (&job.id, &job.name),
            source: Source::Manual,
            scheduled_for: None,
            missed: None,
        };
        let run = row.id.clone();
        match runs.claim(&worker.process, here.now, &[row]).map_err(|wrong| told(&wrong))?.as_slice() {
            [true] => Ok(Claim { run, job, due: None }),
            _ => Err(JobError::Invalid(format!("`{}` was just begun", job.name))),
        }
    }

    /// Marks the runs of processes that are not there any more.
    fn left_behind(&self, runs: &Runs, worker: &Worker, now: Timestamp) -> Result<Vec<Run>, StoreError> {
        let mut found = Vec::new();
        for process in runs.processes()?.into_iter().filter(|process| *process != worker.process) {
            let file = self.life(&process);
            // Held while the marks are written, so that two who find it gone take turns.
            let Some(_lock) = disk::try_lock(&file)? else { continue };
            found.extend(runs.interrupt(&process, now)?);
            disk::remove(&file)?;
        }
        Ok(found)
    }
}

/// A job whose run was cut off has not gone well.
fn note_interrupted(file: &mut JobsFile, interrupted: &[Run], here: &Here) -> Result<(), JobError> {
    for run in interrupted {
        let Some(at) = file.names().position(|(id, _)| id == run.job_id) else { continue };
        let Ok(mut job) = file.job(at) else { continue };
        let why = run.error.clone().unwrap_or_else(|| "it was interrupted".to_owned());
        job.ended(here.now, &here.zone, Some(format!("interrupted: {why}")), None);
        if run.scheduled_for.is_some() {
            job.count(&here.zone);
        }
        file.set(at, &job).map_err(|wrong| told(&wrong))?;
    }
    Ok(())
}

/// What is decided about one job.
struct Decided {
    job: Job,
    runs: Vec<Timestamp>,
    missed: Option<Gone>,
}

/// Times that went by, and why.
struct Gone {
    first: Timestamp,
    last: Timestamp,
    count: u64,
    why: &'static str,
}

fn claim(
    home: &CronHome,
    file: &mut JobsFile,
    worker: &Worker,
    here: &Here,
    found: &mut Claimed,
) -> Result<(), JobError> {
    let come = |at: Option<Timestamp>| at.is_none_or(|at| at <= here.now);
    let waiting = file.heads().enumerate().filter(|(_, head)| head.waits() && come(head.due_at()));
    let waiting: Vec<usize> = waiting.map(|(at, _)| at).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let runs = home.runs().map_err(|wrong| told(&wrong))?;
    let open: BTreeSet<String> =
        runs.open().map_err(|wrong| told(&wrong))?.into_iter().map(|run| run.job_id).collect();
    let mut decided = Vec::new();
    for at in waiting {
        let mut job = match file.job(at) {
            Ok(job) => job,
            Err(wrong) => {
                let id = file.names().nth(at).map_or_else(String::new, |(id, _)| id.to_owned());
                found.unreadable.push((id, wrong.to_string()));
                continue;
            }
        };
        let goes_on = open.contains(&job.id);
        let (times, missed) = match decide(&mut job, here, goes_on) {
            Ok(decided) => decided,
            Err(wrong) => {
                found.unreadable.push((job.id.clone(), wrong.to_string()));
                (job.state, job.enabled) = (State::Error, false);
                job.last_error = Some(wrong.to_string());
                (Vec::new(), None)
            }
        };
        file.set(at, &job).map_err(|wrong| told(&wrong))?;
        decided.push(Decided { job, runs: times, missed });
    }
    add(&runs, worker, here.now, &decided, found).map_err(|wrong| told(&wrong))
}

/// The times of a job that run now, and those that do not; the job waits for its next one.
fn decide(job: &mut Job, here: &Here, goes_on: bool) -> Result<(Vec<Timestamp>, Option<Gone>), JobError> {
    let zone = job.zone(&here.zone)?;
    let schedule = job.schedule.schedule(&zone)?;
    let Some(at) = job.due_at(&here.zone) else {
        // Written by hand, or by somebody who did not know: it waits from now on.
        job.waits_until(schedule.next(here.now, &zone), &zone);
        return Ok((Vec::new(), None));
    };
    let mut came = due(&schedule, &zone, at, here.now, job.misfire());
    let left = job.repeat.times.map(|times| times.saturating_sub(job.repeat.completed));
    if let Some(left) = left.and_then(|left| usize::try_from(left).ok()) {
        came.run.truncate(left.max(1));
    }
    job.waits_until(came.next, &zone);
    let missed = match (goes_on, came.run.as_slice()) {
        (true, [first, .., last] | [first @ last]) => Some(Gone {
            first: came.missed.map_or(*first, |missed| missed.first),
            last: *last,
            count: came.missed.map_or(0, |missed| missed.count) + came.run.len() as u64,
            why: "the run before it had not ended",
        }),
        _ => came.missed.map(|missed| Gone {
            first: missed.first,
            last: missed.last,
            count: missed.count,
            why: "nothing looked after the jobs when it was due",
        }),
    };
    if let Some(gone) = &missed {
        job.last_missed_at = Some(written(gone.last, &zone));
    }
    Ok((if goes_on { Vec::new() } else { came.run }, missed))
}

/// Adds the rows, and keeps those that are ours.
fn add(
    runs: &Runs,
    worker: &Worker,
    now: Timestamp,
    decided: &[Decided],
    found: &mut Claimed,
) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for one in decided {
        let row = |scheduled_for: Timestamp, missed| NewRun {
            id: run_id(worker, &one.job.id, scheduled_for),
            job: (&one.job.id, &one.job.name),
            source: Source::Schedule,
            scheduled_for: Some(scheduled_for),
            missed,
        };
        if let Some(gone) = &one.missed {
            rows.push(row(gone.first, Some((gone.count, gone.last, gone.why))));
        }
        rows.extend(one.runs.iter().map(|time| row(*time, None)));
    }
    let added = runs.claim(&worker.process, now, &rows)?;
    let new = rows.iter().zip(added).filter(|(_, new)| *new).map(|(row, _)| row);
    for row in new {
        if row.missed.is_some() {
            found.missed.extend(runs.run(&row.id)?);
        } else if let Some(one) = decided.iter().find(|one| one.job.id == row.job.0) {
            found.claims.push(Claim { run: row.id.clone(), job: one.job.clone(), due: row.scheduled_for });
        }
    }
    Ok(())
}

/// An id that no other run has.
fn run_id(worker: &Worker, job: &str, time: Timestamp) -> String {
    let unique = worker.process.strip_prefix(OURS).unwrap_or(&worker.process);
    format!("{job}-{}-{unique}", time.as_second())
}
