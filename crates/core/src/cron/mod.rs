//! Work that the clock starts: what a job is, how it changes, and the contract of whoever keeps jobs.
//!
//! Pure apart from the contract: `job.rs` is what is kept (the original's fields and a few more),
//! `draft.rs` how a job is made and changed by somebody's wishes, `standing.rs` what runs change of it,
//! here is who is asked.

mod draft;
mod job;
mod standing;

#[cfg(test)]
mod tests;

use std::path::Path;

use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::schedule::ScheduleError;
use crate::threat::Threat;

pub use draft::{Draft, Here};
pub use job::{Job, Repeat, State, StoredSchedule};
pub use standing::Standing;

/// Keeps jobs. A job is named by its id, the beginning of one, or its name.
pub trait JobBook: Send + Sync {
    /// All jobs, oldest first.
    fn all(&self) -> BoxFuture<'_, Result<Vec<Job>, JobError>>;

    /// Makes a job.
    fn create(&self, draft: Draft) -> BoxFuture<'_, Result<Job, JobError>>;

    /// Changes a job.
    fn change<'a>(&'a self, name: &'a str, step: Step) -> BoxFuture<'a, Result<Job, JobError>>;

    /// Takes a job away; its record and its outputs stay.
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Job, JobError>>;

    /// Whether somebody is there who will run jobs when they are due.
    fn is_served(&self) -> bool;

    /// Why answers of a job would not arrive everywhere as things are now; nothing when they would.
    fn undeliverable(&self, job: &Job) -> Option<String>;
}

/// What is to be done with a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// These things are different from now on.
    Update(Box<Draft>),
    /// It does not run until it is resumed.
    Pause(Option<String>),
    /// It runs again, from its next time on.
    Resume,
    /// It is due now.
    RunSoon,
}

/// Why something could not be done with jobs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// No job is meant.
    #[error("there is no job `{name}`{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// One with a similar name.
        near: Option<String>,
    },
    /// Several jobs are meant.
    #[error("`{name}` may mean {}; give the id", ids.join(" or "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// The time makes no sense.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The prompt tries to command whoever reads it.
    #[error("the prompt is not taken, because it {0}")]
    Threat(Threat),
    /// Something else in the wishes makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The jobs could not be read or written.
    #[error("{0}")]
    Store(String),
}

/// The job that is meant by an id, the beginning of one, or a name; where it stands in the list of ids
/// and names.
pub fn find(name: &str, jobs: &[(&str, &str)]) -> Result<usize, JobError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(JobError::Invalid("the job is needed: its id or its name".to_owned()));
    }
    let ways: [Way; 4] = [
        |name, id, _| id == name,
        |name, _, called| called == name,
        |name, _, called| called.eq_ignore_ascii_case(name),
        |name, id, _| name.len() >= MIN_PREFIX && id.starts_with(name),
    ];
    for way in ways {
        let meant = jobs.iter().enumerate().filter(|(_, (id, called))| way(name, id, called));
        match meant.collect::<Vec<_>>().as_slice() {
            [] => {}
            [(at, _)] => return Ok(*at),
            several => {
                let ids = several.iter().map(|(_, (id, _))| (*id).to_owned()).collect();
                return Err(JobError::Ambiguous { name: name.to_owned(), ids });
            }
        }
    }
    let known = jobs.iter().flat_map(|(id, called)| [*called, *id]);
    let near = crate::suggest::suggest(name, known, 1).first().map(|near| (*near).to_owned());
    Err(JobError::Unknown { name: name.to_owned(), near })
}

/// Whether a word means the job with this id and name.
type Way = fn(&str, &str, &str) -> bool;

/// Fewer letters of an id mean too many.
const MIN_PREFIX: usize = 3;

/// The path of a script below the folder that scripts lie in, if it is one that may be named.
pub fn script_path(script: &str) -> Result<&Path, JobError> {
    use std::path::Component;
    let path = Path::new(script.trim());
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if inside && path.file_name().is_some() && !script.trim_start().starts_with('~') {
        Ok(path)
    } else {
        Err(JobError::Invalid(format!(
            "`{script}` is no script: give its path below the folder `scripts` of the home, such as check.py"
        )))
    }
}

/// The id of the session of a run: `cron_<job>_<time>`.
pub fn session_id(job: &str, at: Timestamp) -> String {
    let stamp = jiff::tz::Offset::UTC.to_datetime(at).strftime("%Y%m%d_%H%M%S").to_string();
    format!("cron_{job}_{stamp}")
}
