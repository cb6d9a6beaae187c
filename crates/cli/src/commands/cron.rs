//! `hermes cron`: work that the clock starts.

use crate::command::{CommandDef, Failure, Run};
use crate::cron::{change, create, edit, list, remove, run, runs, serve, status, tick};
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Cron>("cron", "Plan work for later or for every so often, and run what is due");

/// Below the options.
const AFTER_HELP: &str = "\
Jobs run while `hermes cron serve` does, or whenever `hermes cron tick` is called, such as every \
minute by the system. A job is named by its id, the beginning of one, or its name.

Examples:
  hermes cron create 'every 2h' 'Look at the build and tell what is broken'
  hermes cron create '0 9 * * mon-fri' 'Sum up the news' --name news --timezone Europe/Berlin
  hermes cron list
  hermes cron tick

Exit codes: 0 done, 1 it did not work or a run failed, 2 there is no such job or the words are wrong, \
3 an agent's command wanted to plan work.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Cron {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the jobs, and when each runs next
    List(list::List),
    /// Make a job
    Create(create::Create),
    /// Change a job
    Edit(edit::Edit),
    /// Keep a job from running until it is resumed
    Pause(change::Pause),
    /// Let a paused job run again
    Resume(change::Resume),
    /// Run a job now, whatever its schedule says
    Run(run::RunNow),
    /// Remove a job; its record and its answers stay
    Remove(remove::Remove),
    /// Tell how it stands: scheduler, next job, runs that went wrong
    Status(status::Status),
    /// List runs and missed times, newest first
    Runs(runs::Runs),
    /// Run what is due now, then return
    Tick(tick::Tick),
    /// Stay and run jobs when they are due
    Serve(serve::Serve),
}

impl Run for Cron {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        match self.action {
            Action::List(list) => list.run(shell),
            Action::Create(create) => create.run(shell),
            Action::Edit(edit) => edit.run(shell),
            Action::Pause(pause) => pause.run(shell),
            Action::Resume(resume) => resume.run(shell),
            Action::Run(run) => run.run(shell),
            Action::Remove(remove) => remove.run(shell),
            Action::Status(status) => status.run(shell),
            Action::Runs(runs) => runs.run(shell),
            Action::Tick(tick) => tick.run(shell),
            Action::Serve(serve) => serve.run(shell),
        }
    }
}
