//! `hermes cron serve`: stays and runs jobs when they are due.

use std::time::Duration;

use hermes::cron::{Happening, ServeError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::command::{Failure, Run};
use crate::cron::{runner, told};
use crate::interrupt::Interrupt;
use crate::output;
use crate::shell::Shell;

/// Below the options.
const AFTER_HELP: &str = "\
One scheduler works for a home. Ctrl-C or SIGTERM ends it: no more runs begin, and those that go on \
have some time to end. With --json each happening is a line on standard output.

Exit codes: 0 it was told to stop, 1 another scheduler is there or the jobs cannot be used.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Serve {
    /// Seconds that running jobs have to end when the scheduler is told to stop
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    grace: u64,
}

impl Run for Serve {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let cron = runner(shell)?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let _interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        let tell = |happening: Happening<'_>| {
            if shell.out.wants_json() {
                // Whoever read it has left; the jobs run all the same.
                let _ = shell.out.json(&described(&happening));
            } else if let Some(words) = words(&happening) {
                output::say(&words);
            }
        };
        cron.serve_blocking(&stop, Duration::from_secs(self.grace), &tell).map_err(|wrong| match wrong {
            ServeError::Jobs(wrong) => wrong.into(),
            other => Failure::failed(other),
        })
    }
}

fn words(happening: &Happening<'_>) -> Option<String> {
    Some(match happening {
        Happening::Ready => "the scheduler runs; Ctrl-C ends it".to_owned(),
        Happening::Began(claim) => format!("{} `{}` begins", claim.job.id, claim.job.name),
        Happening::Ended(run) | Happening::Interrupted(run) | Happening::Missed(run) => told::line(run),
        Happening::Trouble(why) => format!("warning: {why}"),
        Happening::Stopping(0) => "the scheduler ends".to_owned(),
        Happening::Stopping(count) => format!("the scheduler ends when {count} runs have"),
        _ => return None,
    })
}

fn described(happening: &Happening<'_>) -> Value {
    match happening {
        Happening::Ready => json!({ "type": "ready" }),
        Happening::Began(claim) => json!({ "type": "began", "run": claim.run, "job_id": claim.job.id }),
        Happening::Ended(run) => json!({ "type": "ended", "run": run }),
        Happening::Missed(run) => json!({ "type": "missed", "run": run }),
        Happening::Interrupted(run) => json!({ "type": "interrupted", "run": run }),
        Happening::Trouble(why) => json!({ "type": "trouble", "error": why }),
        Happening::Stopping(count) => json!({ "type": "stopping", "running": count }),
        _ => json!({ "type": "other" }),
    }
}
