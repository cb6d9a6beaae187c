//! `hermes cron run`: a job now, whatever its schedule says.

use tokio_util::sync::CancellationToken;

use crate::command::{Failure, Run};
use crate::cron::{planned, runner, told};
use crate::interrupt::Interrupt;
use crate::shell::Shell;

#[derive(clap::Args)]
pub(crate) struct RunNow {
    /// The job: its id or its name
    job: String,
}

impl Run for RunNow {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        planned(shell)?;
        let cron = runner(shell)?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        let run = cron.run_now_blocking(&self.job, &stop)?;
        if shell.out.wants_json() {
            shell.out.json(&run)?;
        } else {
            shell.out.text(&told::line(&run))?;
        }
        match interrupt.as_ref().and_then(Interrupt::exit_code) {
            Some(code) => Err(Failure::Told(code)),
            None if told::went_wrong(&run) => Err(Failure::Told(Failure::FAILED)),
            None => Ok(()),
        }
    }
}
