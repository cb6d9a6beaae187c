//! One look: what is due is claimed and run, and what went wrong since the last look is told.

use futures::StreamExt as _;
use futures::future::{join_all, join3};
use hermes_core::cron::JobError;
use hermes_store::cron::{Claim, Claimed, Run, Worker};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::Cron;

/// What came of a look.
#[derive(Debug, Clone, Default)]
pub struct Ticked {
    /// What was run, in the order of its end.
    pub runs: Vec<Run>,
    /// Times that went by without a run.
    pub missed: Vec<Run>,
    /// Runs that ended with their program.
    pub interrupted: Vec<Run>,
    /// Jobs that cannot be run, whose end could not be written down, or about which somebody could not be
    /// told: id and reason.
    pub unreadable: Vec<(String, String)>,
    /// When the next job is due.
    pub next: Option<Timestamp>,
}

impl Cron {
    /// Runs what is due now, and comes back when it has ended; `stop` ends it sooner.
    pub async fn tick(&self, stop: &CancellationToken) -> Result<Ticked, JobError> {
        if self.home.stamp().is_none() && !self.home.has_record() {
            return Ok(Ticked::default());
        }
        let worker = self.worker()?;
        let Claimed { claims, missed, interrupted, unreadable, next } =
            self.home.claim_due(&worker, &self.here()?)?;
        let mut ticked = Ticked { missed, interrupted, unreadable, next, ..Ticked::default() };
        let at_once = usize::try_from(self.runtime.settings().cron.max_parallel_jobs).unwrap_or(1).max(1);
        let early = !claims.is_empty();
        let rows = by_job(claims).into_iter().map(|row| self.run_row(row, stop));
        let ends = futures::stream::iter(rows).buffer_unordered(at_once).collect::<Vec<_>>();
        let gone = ticked.interrupted.iter().chain(&ticked.missed).cloned();
        let told = join_all(gone.map(|run| async move { (run.job_id.clone(), self.report(run).await) }));
        // What was claimed is seen by others while it runs, and what came of it afterwards.
        let folded = async { if early { self.fold().await } else { Ok(()) } };
        let (ends, told, folded) = join3(ends, told, folded).await;
        let folded = [folded, self.fold().await];
        for (job, end) in ends.into_iter().flatten() {
            match end {
                Ok(run) => ticked.runs.push(run),
                Err(wrong) => ticked.unreadable.push((job, wrong.to_string())),
            }
        }
        ticked.unreadable.extend(told.into_iter().filter_map(|(job, lost)| Some((job, lost?))));
        let lost = folded.into_iter().filter_map(Result::err);
        ticked.unreadable.extend(lost.map(|wrong| ("jobs.json".to_owned(), wrong.to_string())));
        Ok(ticked)
    }

    /// Runs a job now, out of turn.
    pub async fn run_now(&self, name: &str, stop: &CancellationToken) -> Result<Run, JobError> {
        let worker = self.worker()?;
        let claim = self.home.claim_now(&worker, name, &self.here()?)?;
        let run = self.run(&claim, stop).await?;
        self.fold().await?;
        Ok(run)
    }

    /// This process, as one that runs jobs.
    pub(super) fn worker(&self) -> Result<Worker, JobError> {
        self.home.worker(&self.runtime.unique()).map_err(|wrong| JobError::Store(wrong.to_string()))
    }

    /// The claims of one job, one after the other.
    async fn run_row(
        &self,
        row: Vec<Claim>,
        stop: &CancellationToken,
    ) -> Vec<(String, Result<Run, JobError>)> {
        let mut ends = Vec::with_capacity(row.len());
        for claim in row {
            let end = if stop.is_cancelled() {
                self.never_began(&claim, "the scheduler was stopped before it began").await
            } else {
                self.run(&claim, stop).await
            };
            ends.push((claim.job.id, end));
        }
        ends
    }
}

/// The claims of each job together, in their order.
fn by_job(claims: Vec<Claim>) -> Vec<Vec<Claim>> {
    let mut rows: Vec<Vec<Claim>> = Vec::new();
    for claim in claims {
        let same = |row: &&mut Vec<Claim>| row.first().is_some_and(|first| first.job.id == claim.job.id);
        match rows.iter_mut().find(same) {
            Some(row) => row.push(claim),
            None => rows.push(vec![claim]),
        }
    }
    rows
}
