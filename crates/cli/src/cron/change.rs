//! `hermes cron pause` and `resume`: whether a job runs.

use hermes::core::cron::Step;

use crate::command::{Failure, Run};
use crate::cron::{jobs, planned, tell};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Pause {
    /// The job: its id or its name
    job: String,
    /// Why, for whoever wonders later
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Pause {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let job = jobs(shell)?.change(&self.job, Step::Pause(self.reason))?;
        tell(shell, &job, "is paused")
    }
}

#[derive(clap::Args)]
pub(crate) struct Resume {
    /// The job: its id or its name
    job: String,
}

impl Run for Resume {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let job = planned(shell)?.change(&self.job, Step::Resume)?;
        tell(shell, &job, "goes on")
    }
}
