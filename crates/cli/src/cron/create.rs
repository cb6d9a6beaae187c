//! `hermes cron create`: a new job.

use crate::command::{Failure, Run};
use crate::cron::wishes::Wishes;
use crate::cron::{planned, tell, warn_of_delivery};
use crate::shell::Shell;
use crate::{input, output};

/// Below the options.
const AFTER_HELP: &str = "\
Schedules:
  30m, 2h, 1d                 once, after that time
  2027-01-31T09:00            once, then
  every 30m, every 2h         again and again
  '0 9 * * mon-fri', @daily   by the clock: minute, hour, day, month, day of the week

Examples:
  hermes cron create 'every 2h' 'Look at the build and tell what is broken'
  hermes cron create 30m 'Remind me to call Ann' --name reminder
  hermes cron create @daily --script disk.sh --no-agent --name disk";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Create {
    /// When it runs
    schedule: String,
    /// What the agent is asked; `@FILE` reads it from a file, `-` from standard input
    prompt: Option<String>,
    #[command(flatten)]
    wishes: Wishes,
}

impl Run for Create {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let prompt = self.prompt.map(|text| input::text(&text, shell.cwd())).transpose()?;
        let cron = planned(shell)?;
        let job = cron.create(self.wishes.draft(shell, Some(self.schedule), prompt))?;
        tell(shell, &job, "was made")?;
        warn_of_delivery(&cron, &job);
        if cron.home().served().is_none() {
            output::say(
                "no scheduler is running: start one with `hermes cron serve`, or let `hermes cron tick` run every minute",
            );
        }
        Ok(())
    }
}
