//! Jobs that the clock starts, in the original's format: `cron/jobs.json`, one folder of outputs per
//! job, and the record of runs in `cron/executions.db`.
//!
//! | file | what |
//! |---|---|
//! | `file.rs` | `jobs.json`: read without taking apart what is not asked for, written whole |
//! | `scan.rs` | where each job stands in it, and when it is due |
//! | `index.rs` | the same, kept beside it, so that a look reads no more jobs than are due |
//! | `run.rs` | a run: when it was due, began, ended, and how |
//! | `runs.rs` | the record of every run and every missed time |
//! | `changes.rs` | what runs have changed of jobs and what `jobs.json` does not say yet |
//! | `sheet.rs` | what a look works with: these together |
//! | `claim.rs` | what is due now belongs to one process, before anything runs |
//! | `output.rs` | answers as files |
//! | `server.rs` | the one scheduler of a home |
//!
//! Many processes may look at once. Changes of `jobs.json` are made under a lock; a time of a job is
//! claimed by a row that only one process can add, and that is on the disk before the run begins. What a
//! claim or the end of a run changes of its job is noted in the same step, and brought into `jobs.json`
//! after it: [`CronHome::fold`], or whoever changes the file for another reason. A process shows that it is alive by a lock which the system gives back when it ends: what it had
//! claimed and not ended is then told as interrupted, and never run again.

mod changes;
mod claim;
mod file;
mod index;
mod output;
mod run;
mod runs;
mod scan;
mod server;
mod sheet;

use std::path::{Path, PathBuf};

use hermes_core::cron::{Draft, Here, Job, JobError, Step, find};
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use claim::{Claim, Claimed, Worker};
pub use output::Report;
pub use run::{Ended, Outcome, Run, Source};
pub use runs::Runs;
pub use server::{Served, Server};

use crate::disk;
pub use crate::disk::Stamp;
use crate::error::StoreError;
use crate::home::Home;
use changes::Changes;
use file::JobsFile;
use index::Index;

/// The jobs of a home. Nothing is made before there is something to keep.
#[derive(Debug, Clone)]
pub struct CronHome {
    folder: PathBuf,
    scripts: PathBuf,
}

impl CronHome {
    /// Those of this home.
    pub fn of(home: &Home) -> Self {
        Self { folder: home.cron(), scripts: home.scripts() }
    }

    /// The folder that everything lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that scripts lie in.
    pub fn scripts(&self) -> &Path {
        &self.scripts
    }

    /// Where a script really is: a file, and inside of the folder of scripts also behind links.
    pub fn script(&self, script: &str) -> Result<PathBuf, JobError> {
        let path = self.scripts.join(hermes_core::cron::script_path(script)?);
        let (real, root) = (disk::real(&path), disk::real(&self.scripts));
        if !disk::is_file(&path) {
            return Err(JobError::Invalid(format!("there is no script {}", path.display())));
        }
        if !real.starts_with(&root) {
            return Err(JobError::Invalid(format!("{} leads out of the folder of scripts", path.display())));
        }
        Ok(real)
    }

    /// Whether a folder is there to work in.
    pub fn is_folder(path: &Path) -> bool {
        disk::is_folder(path)
    }

    pub(super) fn jobs_file(&self) -> PathBuf {
        self.folder.join("jobs.json")
    }

    /// Changes when the jobs do.
    pub fn stamp(&self) -> Option<Stamp> {
        disk::stamp(&self.jobs_file())
    }

    /// Whether anything was ever run here.
    pub fn has_record(&self) -> bool {
        disk::is_file(&self.folder.join("executions.db"))
    }

    /// All jobs, in the order of the file.
    pub fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        self.read()?.jobs()
    }

    /// The job that is meant by an id, the beginning of one, or a name.
    pub fn job(&self, name: &str) -> Result<Job, JobError> {
        let file = self.read().map_err(|wrong| told(&wrong))?;
        file.job(find(name, &file.names().collect::<Vec<_>>())?).map_err(|wrong| told(&wrong))
    }

    /// Makes a job; `chance` makes its id unlike others.
    pub fn create(&self, draft: Draft, here: &Here, chance: u64) -> Result<Job, JobError> {
        self.with(here.now, &here.zone, |file| {
            let taken = |id: &String| file.names().any(|(known, _)| known == id);
            let id = (0..u64::MAX).map(|n| fresh_id(chance.wrapping_add(n))).find(|id| !taken(id));
            let job = draft.into_job(id.unwrap_or_default(), here)?;
            file.push(&job).map_err(|wrong| told(&wrong))?;
            Ok(job)
        })
    }

    /// Takes over the jobs of another `jobs.json`, each paused: where it comes from it may go on, and nothing
    /// runs twice by itself. Ids that are here already are left as they are. Says which are new, and how many
    /// were known.
    pub fn adopt(&self, path: &Path, here: &Here) -> Result<(Vec<Job>, usize), JobError> {
        let others = JobsFile::read(path).and_then(|file| file.jobs()).map_err(|wrong| told(&wrong))?;
        self.with(here.now, &here.zone, |file| {
            let (mut new, mut known) = (Vec::new(), 0);
            for mut job in others {
                if file.names().any(|(id, _)| id == job.id) {
                    known += 1;
                    continue;
                }
                if job.waits() {
                    job.pause(here.now, &here.zone, Some("it was brought in from another home".to_owned()))?;
                }
                file.push(&job).map_err(|wrong| told(&wrong))?;
                new.push(job);
            }
            Ok((new, known))
        })
    }

    /// Changes a job.
    pub fn change(&self, name: &str, step: Step, here: &Here) -> Result<Job, JobError> {
        self.with(here.now, &here.zone, |file| {
            let at = find(name, &file.names().collect::<Vec<_>>())?;
            let mut job = file.job(at).map_err(|wrong| told(&wrong))?;
            match step {
                Step::Update(draft) => draft.apply(&mut job, here)?,
                Step::Pause(reason) => job.pause(here.now, &here.zone, reason)?,
                Step::Resume => job.resume(here.now, &here.zone)?,
                Step::RunSoon => job.run_soon(here.now, &here.zone)?,
            }
            file.set(at, &job).map_err(|wrong| told(&wrong))?;
            Ok(job)
        })
    }

    /// Takes a job away.
    pub fn remove(&self, name: &str, here: &Here) -> Result<Job, JobError> {
        self.with(here.now, &here.zone, |file| {
            let at = find(name, &file.names().collect::<Vec<_>>())?;
            let job = file.job(at).map_err(|wrong| told(&wrong))?;
            file.remove(at);
            Ok(job)
        })
    }

    /// The jobs, with what runs have changed.
    fn read(&self) -> Result<JobsFile, StoreError> {
        // Before the file: what is taken from here meanwhile stands there then.
        let changes = self.existing_runs()?.map_or_else(|| Ok(Changes::new()), |runs| runs.changes())?;
        let mut file = JobsFile::read(&self.jobs_file())?;
        file.carry(&changes)?;
        Ok(file)
    }

    /// Brings what runs have changed into `jobs.json`, where others read it.
    pub fn fold(&self, here: &Here) -> Result<(), JobError> {
        let store = |wrong: StoreError| told(&wrong);
        match self.existing_runs().map_err(store)? {
            Some(runs) if runs.has_changes().map_err(store)? => self.with(here.now, &here.zone, |_| Ok(())),
            _ => Ok(()),
        }
    }

    /// Changes the file under its lock, and writes it when something changed.
    fn with<T>(
        &self,
        now: Timestamp,
        zone: &TimeZone,
        work: impl FnOnce(&mut JobsFile) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        let path = self.jobs_file();
        let store = |wrong: StoreError| told(&wrong);
        disk::make_private_folder(&self.folder).map_err(store)?;
        let _lock = disk::lock(&path).map_err(store)?;
        let runs = self.existing_runs().map_err(store)?;
        let changes = runs.as_ref().map_or_else(|| Ok(Changes::new()), Runs::changes).map_err(store)?;
        let mut file = JobsFile::read(&path).map_err(store)?;
        file.carry(&changes).map_err(store)?;
        let done = work(&mut file)?;
        if file.is_changed() {
            let (index, stamp) = file.write(&path, now, zone).map_err(store)?;
            index.keep(self, stamp);
        } else if let Some(stamp) = file.stamp().filter(|stamp| Index::known(self, *stamp).is_none()) {
            file.index().keep(self, stamp);
        }
        match runs {
            Some(runs) if !changes.is_empty() => runs.forget_changes().map_err(store)?,
            _ => {}
        }
        Ok(done)
    }
}

pub(super) fn told(wrong: &StoreError) -> JobError {
    JobError::Store(wrong.to_string())
}

/// Twelve hexadecimal digits.
fn fresh_id(chance: u64) -> String {
    // Mixed, so that ids made one after the other do not look alike.
    let mixed = (chance ^ (chance >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    format!("{:012x}", (mixed ^ (mixed >> 31)) & 0xffff_ffff_ffff)
}
