//! `hermes cron edit`: some things of a job are different from now on.

use hermes::core::cron::{Draft, Step};

use crate::command::{Failure, Run};
use crate::cron::wishes::Wishes;
use crate::cron::{planned, tell, warn_of_delivery};
use crate::input;
use crate::shell::Shell;

/// Below the options.
const AFTER_HELP: &str = "\
What is not named stays as it is; an empty text takes it away.

Examples:
  hermes cron edit news --schedule '0 8 * * *'
  hermes cron edit news --misfire run_once --workdir ''";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Edit {
    /// The job: its id or its name
    job: String,
    /// When it runs
    #[arg(long)]
    schedule: Option<String>,
    /// What the agent is asked; `@FILE` reads it from a file, `-` from standard input
    #[arg(long)]
    prompt: Option<String>,
    #[command(flatten)]
    wishes: Wishes,
}

impl Run for Edit {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let prompt = self.prompt.map(|text| input::text(&text, shell.cwd())).transpose()?;
        let draft = self.wishes.draft(shell, self.schedule, prompt);
        if draft == Draft::default() {
            return Err(Failure::usage(
                "say what is to be different; `hermes cron edit --help` shows what can be",
            ));
        }
        let cron = planned(shell)?;
        let job = cron.change(&self.job, Step::Update(Box::new(draft)))?;
        tell(shell, &job, "was changed")?;
        warn_of_delivery(&cron, &job);
        Ok(())
    }
}
