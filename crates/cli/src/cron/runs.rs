//! `hermes cron runs`: what ran, and what did not.

use crate::command::{Failure, Run};
use crate::cron::{jobs, told};
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct Runs {
    /// Only those of this job
    job: Option<String>,
    /// Most runs to list
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: u32,
}

impl Run for Runs {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let cron = jobs(shell)?;
        let job = self.job.map(|name| cron.home().job(&name)).transpose()?;
        let record = cron.home().existing_runs()?;
        let found = record.map(|record| record.newest(job.as_ref().map(|job| job.id.as_str()), self.limit));
        told::table(shell, &found.transpose()?.unwrap_or_default())
    }
}
