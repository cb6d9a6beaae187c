//! `hermes cron remove`: a job less.

use crate::command::{Failure, Run};
use crate::cron::jobs;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Remove {
    /// The job: its id or its name
    job: String,
}

impl Run for Remove {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let job = jobs(shell)?.remove(&self.job)?;
        if shell.out.wants_json() {
            return shell.out.json(&job);
        }
        shell.out.text(&format!("job {} `{}` was removed; its answers are kept", job.id, job.name))
    }
}
