//! `hermes cron tick`: runs what is due now, then returns.

use hermes::core::schedule::written;
use hermes::cron::Ticked;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::command::{Failure, Run};
use crate::cron::{runner, told};
use crate::interrupt::Interrupt;
use crate::output;
use crate::shell::Shell;

/// Below the options.
const AFTER_HELP: &str = "\
Several may run at once: each time of a job is run by one of them. What was missed, or cut off with \
its program, is told on standard error.

Example, for the system's own crontab:
  * * * * * hermes cron tick

Exit codes: 0 all went well or nothing was due, 1 a run failed.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Tick {}

impl Run for Tick {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let cron = runner(shell)?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        let ticked = cron.tick_blocking(&stop)?;
        let failed = ticked.runs.iter().any(told::went_wrong) || !ticked.unreadable.is_empty();
        tell(shell, &ticked, &cron.here()?.zone)?;
        match interrupt.as_ref().and_then(Interrupt::exit_code) {
            Some(code) => Err(Failure::Told(code)),
            None if failed => Err(Failure::Told(Failure::FAILED)),
            None => Ok(()),
        }
    }
}

fn tell(shell: &Shell, ticked: &Ticked, zone: &hermes::cron::TimeZone) -> Result<(), Failure> {
    let next = ticked.next.map(|at| written(at, zone));
    if shell.out.wants_json() {
        let wrong = |(job, why): &(String, String)| json!({ "job_id": job, "error": why });
        return shell.out.json(&json!({
            "runs": ticked.runs,
            "missed": ticked.missed,
            "interrupted": ticked.interrupted,
            "unreadable": ticked.unreadable.iter().map(wrong).collect::<Vec<_>>(),
            "next": next,
        }));
    }
    for run in ticked.interrupted.iter().chain(&ticked.missed) {
        output::warn(&told::line(run));
    }
    for (job, why) in &ticked.unreadable {
        output::warn(&format!("job {job}: {why}"));
    }
    for run in &ticked.runs {
        shell.out.text(&told::line(run))?;
    }
    if ticked.runs.is_empty() {
        shell.out.line(&format!("nothing is due; next: {}", next.as_deref().unwrap_or("-")))?;
    }
    Ok(())
}
