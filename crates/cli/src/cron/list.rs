//! `hermes cron list`: the jobs, and when each runs next.

use hermes::core::cron::Job;
use hermes::store::cron::Run as OneRun;
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::cron::jobs;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

/// Runs of each job in the JSON form.
const RUNS: u32 = 5;

#[derive(clap::Args)]
pub(crate) struct List {
    /// Only those that wait for their time
    #[arg(long)]
    active: bool,
}

impl Run for List {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let cron = jobs(shell)?;
        let mut all = cron.home().jobs()?;
        all.retain(|job| !self.active || job.waits());
        if shell.out.wants_json() {
            let record = cron.home().existing_runs()?;
            let runs = |job: &Job| match &record {
                Some(record) => record.newest(Some(&job.id), RUNS),
                None => Ok(Vec::<OneRun>::new()),
            };
            let list: Result<Vec<Value>, Failure> = all
                .iter()
                .map(|job| {
                    let mut value = serde_json::to_value(job).map_err(Failure::failed)?;
                    if let Some(fields) = value.as_object_mut() {
                        fields.insert("runs".to_owned(), json!(runs(job)?));
                    }
                    Ok(value)
                })
                .collect();
            return shell.out.json(&list?);
        }
        if all.is_empty() {
            return shell.out.line("no jobs");
        }
        let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
        shell.out.table(&["JOB", "STATE", "NEXT", "LAST", "SCHEDULE", "NAME"], &rows)
    }
}

fn row(job: &Job) -> Vec<Cell> {
    let next = if job.waits() { job.next_run_at.as_deref() } else { None };
    let (last, tone) = match (job.last_status.as_deref(), &job.last_missed_at) {
        (Some("ok"), None) => ("ok", Tone::Good),
        (Some("ok"), Some(_)) => ("ok, some missed", Tone::Plain),
        (Some(_), _) => ("failed", Tone::Bad),
        (None, Some(_)) => ("missed", Tone::Bad),
        (None, None) => ("-", Tone::Faint),
    };
    vec![
        Cell::new(&job.id).tone(Tone::Strong),
        Cell::new(job.state.word()),
        Cell::new(next.unwrap_or("-")),
        Cell::new(last).tone(tone),
        Cell::new(&job.schedule_display),
        Cell::new(&job.name),
    ]
}
