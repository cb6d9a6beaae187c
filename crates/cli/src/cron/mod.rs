//! The actions of `hermes cron`, one file each, and what they share.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod tick;
mod told;
mod wishes;

use hermes::core::cron::{Job, JobError};
use hermes::cron::Cron;

use crate::command::Failure;
use crate::output;
use crate::shell::Shell;

/// The jobs of the home, to look at and to change.
pub(crate) fn jobs(shell: &Shell) -> Result<Cron, Failure> {
    shell.runtime()?.cron().ok_or_else(no_home)
}

/// The jobs of the home, for a person who plans. An agent has a tool for that, which asks first.
pub(crate) fn planned(shell: &Shell) -> Result<Cron, Failure> {
    if shell.is_of_an_agent() {
        let why = "a command of an agent cannot plan work; the tool `cronjob` can, where a person agrees";
        return Err(Failure::Coded(Failure::DENIED, why.to_owned()));
    }
    jobs(shell)
}

/// The jobs of the home, to be run.
pub(crate) fn runner(shell: &Shell) -> Result<Cron, Failure> {
    shell.unattended_runtime()?.cron().ok_or_else(no_home)
}

fn no_home() -> Failure {
    Failure::usage("there is no home that could keep jobs")
}

/// Tells about a job that was made or changed.
pub(crate) fn tell(shell: &Shell, job: &Job, what: &str) -> Result<(), Failure> {
    if shell.out.wants_json() {
        return shell.out.json(job);
    }
    let next = match (&job.next_run_at, job.waits()) {
        (Some(next), true) => format!("; it next runs at {next}"),
        _ => String::new(),
    };
    shell.out.text(&format!("job {} `{}` {what}{next}", job.id, job.name))
}

/// Warns of answers that would not arrive as things are now.
pub(crate) fn warn_of_delivery(cron: &Cron, job: &Job) {
    if let Some(why) = cron.undeliverable(job) {
        output::warn(&format!("answers would be {why}; they are kept in files in any case"));
    }
}

impl From<JobError> for Failure {
    fn from(wrong: JobError) -> Self {
        match wrong {
            JobError::Store(_) => Self::failed(wrong),
            other => Self::usage(other),
        }
    }
}
