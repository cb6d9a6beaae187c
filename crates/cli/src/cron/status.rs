//! `hermes cron status`: how it stands.

use hermes::core::schedule::written;
use hermes::store::cron::Run as OneRun;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::cron::{jobs, told};
use crate::shell::Shell;

/// Runs that are looked through for what went wrong.
const LOOKED: u32 = 100;
/// Of these so many are shown.
const SHOWN: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Status {}

impl Run for Status {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let cron = jobs(shell)?;
        let (home, here) = (cron.home(), cron.here()?);
        let (all, served) = (home.jobs()?, home.served());
        let (mut open, mut newest) = (Vec::new(), Vec::new());
        if let Some(record) = home.existing_runs()? {
            open = record.open()?;
            newest = record.newest(None, LOOKED)?;
        }
        let wrong: Vec<&OneRun> = newest.iter().filter(|run| told::went_wrong(run)).take(SHOWN).collect();
        let late = newest.iter().filter(|run| run.late_seconds.is_some() && !told::went_wrong(run));
        let late: Vec<&OneRun> = late.take(SHOWN).collect();
        let waiting = all.iter().filter(|job| job.waits());
        let next =
            waiting.clone().filter_map(|job| Some((job.due_at(&here.zone)?, job))).min_by_key(|(at, _)| *at);
        if shell.out.wants_json() {
            return shell.out.json(&json!({
                "scheduler": served,
                "timezone": here.zone.iana_name(),
                "jobs": all.len(),
                "waiting": waiting.count(),
                "next": next.map(|(at, job)| json!({ "at": written(at, &here.zone), "job_id": job.id, "name": job.name })),
                "running": open,
                "went_wrong": wrong,
                "late": late,
                "runs": newest.iter().take(SHOWN).collect::<Vec<_>>(),
            }));
        }
        let scheduler = match &served {
            Some(who) => format!("running (process {})", who.pid),
            None => "not running; `hermes cron serve` starts it".to_owned(),
        };
        shell.out.line(&format!("scheduler  {scheduler}"))?;
        shell.out.line(&format!("time zone  {}", here.zone.iana_name().unwrap_or("of this machine")))?;
        shell.out.line(&format!("jobs       {}, of which {} wait", all.len(), waiting.count()))?;
        let next = next.map(|(at, job)| format!("{} `{}`", written(at, &here.zone), job.name));
        shell.out.text(&format!("next       {}", next.as_deref().unwrap_or("-")))?;
        for run in &open {
            shell.out.text(&format!(
                "running    {} `{}`",
                run.job_id,
                run.job_name.as_deref().unwrap_or_default()
            ))?;
        }
        for run in wrong {
            shell.out.text(&format!("wrong      {}", told::line(run)))?;
        }
        for run in late {
            shell.out.text(&format!("late       {}", told::line(run)))?;
        }
        Ok(())
    }
}
