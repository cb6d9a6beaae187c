//! What is due now belongs to one process, before anything runs.
//!
//! Under the lock of `jobs.json`, and in one step on the disk: what dead processes left behind is told; what is
//! due is decided; its rows are added to the record; the jobs wait for their next times. Whoever is killed
//! before it has claimed nothing; whoever is killed after it has claimed something that nobody else will
//! run, and that is told as interrupted by the next one who looks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_core::cron::{Here, Job, JobError, State};
use hermes_core::schedule::{due, written};
use jiff::Timestamp;

use super::run::{Ended, Run, Source};
use super::runs::{NewRun, OURS, Runs};
use super::sheet::Sheet;
use super::{CronHome, told};
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
        self.look(worker, here).map_err(|wrong| told(&wrong))
    }

    fn look(&self, worker: &Worker, here: &Here) -> Result<Claimed, StoreError> {
        let runs = self.existing_runs()?;
        let gone = runs.as_ref().map_or_else(|| Ok(Vec::new()), |runs| self.gone(runs, worker))?;
        let is_nothing = |sheet: &Sheet| gone.is_empty() && sheet.come(here.now).is_empty();
        if let Some(sheet) = Sheet::known(self, runs.as_ref())?.filter(is_nothing) {
            return Ok(Claimed { next: sheet.earliest(), ..Claimed::default() });
        }
        let _lock = disk::lock(&self.jobs_file())?;
        // Somebody may have begun the record, and claimed, before the lock was ours.
        let runs = runs.map_or_else(|| self.existing_runs(), |runs| Ok(Some(runs)))?;
        let mut sheet = Sheet::open(self, runs.as_ref())?;
        let mut found = Claimed::default();
        if !is_nothing(&sheet) {
            let runs = runs.map_or_else(|| self.runs(), Ok)?;
            runs.in_a_hurry()?;
            runs.together(|| {
                for (process, _) in &gone {
                    found.interrupted.extend(runs.interrupt(process, here.now)?);
                }
                note_interrupted(&mut sheet, &found.interrupted, here);
                claim(&runs, &mut sheet, worker, here, &mut found)?;
                sheet.note(&runs)
            })?;
        }
        for (process, _) in &gone {
            // What stays behind is a file that nobody asks for.
            let _ = disk::remove(&self.life(process));
        }
        found.next = sheet.earliest();
        Ok(found)
    }

    /// Notes how a run ended, in the record and with its job; a job that is gone by now is not missed. One
    /// that was begun out of turn does not count.
    pub fn ended(&self, claim: &Claim, end: &Ended, here: &Here) -> Result<Run, JobError> {
        let noted = || {
            let runs = self.runs()?;
            runs.in_a_hurry()?;
            let _lock = disk::lock(&self.jobs_file())?;
            let mut sheet = Sheet::open(self, Some(&runs))?;
            // However the job stands, the record says how the run ended.
            let found = sheet.find(&claim.job.id);
            runs.together(|| {
                runs.ended(&claim.run, end, here.now)?;
                if let Ok(Some(mut held)) = found {
                    let job = &mut held.job;
                    job.ended(here.now, &here.zone, end.error.clone(), end.delivery_error.clone());
                    if claim.due.is_some() {
                        job.count(&here.zone);
                    }
                    sheet.set(&held);
                }
                sheet.note(&runs)
            })?;
            runs.run(&claim.run)
        };
        let run = noted().map_err(|wrong: StoreError| told(&wrong))?;
        run.ok_or_else(|| JobError::Store(format!("the record of the run {} is gone", claim.run)))
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
        if runs.add(&worker.process, here.now, &row).map_err(|wrong| told(&wrong))? {
            Ok(Claim { run, job, due: None })
        } else {
            Err(JobError::Invalid(format!("`{}` was just begun", job.name)))
        }
    }

    /// Processes that have runs and are not there any more. Whoever finds one keeps it until its runs are
    /// marked, so that two who find it gone take turns.
    fn gone(&self, runs: &Runs, worker: &Worker) -> Result<Vec<(String, Lock)>, StoreError> {
        let mut gone = Vec::new();
        for process in runs.processes()?.into_iter().filter(|process| *process != worker.process) {
            if let Some(lock) = disk::try_lock(&self.life(&process))? {
                gone.push((process, lock));
            }
        }
        Ok(gone)
    }
}

/// A job whose run was cut off has not gone well.
fn note_interrupted(sheet: &mut Sheet, interrupted: &[Run], here: &Here) {
    for run in interrupted {
        let Ok(Some(mut held)) = sheet.find(&run.job_id) else { continue };
        let why = run.error.clone().unwrap_or_else(|| "it was interrupted".to_owned());
        held.job.ended(here.now, &here.zone, Some(format!("interrupted: {why}")), None);
        if run.scheduled_for.is_some() {
            held.job.count(&here.zone);
        }
        sheet.set(&held);
    }
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
    runs: &Runs,
    sheet: &mut Sheet,
    worker: &Worker,
    here: &Here,
    found: &mut Claimed,
) -> Result<(), StoreError> {
    let come = sheet.come(here.now);
    if come.is_empty() {
        return Ok(());
    }
    let open: BTreeSet<String> = runs.open()?.into_iter().map(|run| run.job_id).collect();
    let mut decided = Vec::with_capacity(come.len());
    for at in come {
        let mut held = match sheet.job(at) {
            Ok(held) => held,
            Err((id, wrong)) => {
                found.unreadable.push((id, wrong.to_string()));
                continue;
            }
        };
        let job = &mut held.job;
        let goes_on = open.contains(&job.id);
        let (times, missed) = match decide(job, here, goes_on) {
            Ok(decided) => decided,
            Err(wrong) => {
                found.unreadable.push((job.id.clone(), wrong.to_string()));
                (job.state, job.enabled) = (State::Error, false);
                job.last_error = Some(wrong.to_string());
                (Vec::new(), None)
            }
        };
        sheet.set(&held);
        decided.push(Decided { job: held.job, runs: times, missed });
    }
    add(runs, worker, here.now, decided, found)
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
    decided: Vec<Decided>,
    found: &mut Claimed,
) -> Result<(), StoreError> {
    for Decided { job, runs: times, missed } in decided {
        let row = |scheduled_for: Timestamp, missed| NewRun {
            id: run_id(worker, &job.id, scheduled_for),
            job: (&job.id, &job.name),
            source: Source::Schedule,
            scheduled_for: Some(scheduled_for),
            missed,
        };
        if let Some(gone) = missed {
            let row = row(gone.first, Some((gone.count, gone.last, gone.why)));
            if runs.add(&worker.process, now, &row)? {
                found.missed.extend(runs.run(&row.id)?);
            }
        }
        for time in times {
            let row = row(time, None);
            if runs.add(&worker.process, now, &row)? {
                found.claims.push(Claim { run: row.id, job: job.clone(), due: Some(time) });
            }
        }
    }
    runs.forget_old()
}

/// An id that no other run has.
fn run_id(worker: &Worker, job: &str, time: Timestamp) -> String {
    let unique = worker.process.strip_prefix(OURS).unwrap_or(&worker.process);
    format!("{job}-{}-{unique}", time.as_second())
}
