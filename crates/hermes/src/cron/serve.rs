//! Look after look, until somebody says stop. One scheduler per home.
//!
//! Between two looks it sleeps for a second at a time: then it sees that the jobs were changed, and a
//! machine that was asleep itself does not wait by a clock that had stopped.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use hermes_core::cron::JobError;
use hermes_store::cron::{Claim, Run, Served, Server, Worker};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::Cron;

/// How long it sleeps before it looks whether something changed.
const NAP: Duration = Duration::from_secs(1);
/// So often it looks in any case: another process may have died.
const ANYWAY: SignedDuration = SignedDuration::from_secs(60);
/// How long the file of jobs is left alone between two changes while jobs run.
const PAUSE: SignedDuration = SignedDuration::from_secs(1);
/// How long runs that were stopped may take to end.
const WIND_UP: Duration = Duration::from_secs(20);
/// How often the lock is tried: somebody may just have looked whether it is held.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(30);

/// Something that happened, for whoever looks on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Happening<'a> {
    /// It is the scheduler of this home now.
    Ready,
    /// A run begins.
    Began(&'a Claim),
    /// A run has ended.
    Ended(&'a Run),
    /// Times went by without a run.
    Missed(&'a Run),
    /// A run ended with its program.
    Interrupted(&'a Run),
    /// Something does not work; it is tried again.
    Trouble(&'a str),
    /// It was told to stop, and waits for so many runs.
    Stopping(usize),
}

/// Why there is no scheduler.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another one is there.
    #[error("another scheduler already works for this home{}", .0.as_ref().map(|who| format!(" (process {})", who.pid)).unwrap_or_default())]
    Taken(Option<Served>),
    /// The jobs cannot be used.
    #[error(transparent)]
    Jobs(#[from] JobError),
}

/// Told what happens.
type Tell<'a> = &'a (dyn Fn(Happening<'_>) + Sync);

type Running<'a> = FuturesUnordered<BoxFuture<'a, Over>>;

/// Something that has come to its end.
enum Over {
    /// A run.
    Run(Box<(Claim, Result<Run, JobError>)>),
    /// A message about times that went by or a run that was cut off: the job, and why it did not arrive.
    Notice(String, Option<String>),
    /// What runs have changed was brought into the file of jobs.
    Fold(Result<(), JobError>),
}

impl Cron {
    /// Is the scheduler of this home until `stop`; runs then have `grace` to end before they are stopped.
    pub async fn serve(
        &self,
        stop: &CancellationToken,
        grace: Duration,
        tell: Tell<'_>,
    ) -> Result<(), ServeError> {
        let _server = self.become_server()?;
        let worker = self.worker()?;
        tell(Happening::Ready);
        let cancel = CancellationToken::new();
        let (waiting, busy) = (VecDeque::new(), BTreeSet::new());
        let mut desk = Desk { cron: self, tell, cancel: &cancel, waiting, busy, fold: Fold::default() };
        let mut running = Running::new();
        let mut looks = Looks::default();
        while !stop.is_cancelled() {
            if looks.is_time(self) {
                looks = desk.look(&worker, &running);
            }
            desk.start(&mut running);
            desk.fold(&running);
            desk.wait(&mut running, stop).await;
        }
        desk.close(running, grace).await;
        Ok(())
    }

    /// The same, from code that just waits.
    pub fn serve_blocking(
        &self,
        stop: &CancellationToken,
        grace: Duration,
        tell: Tell<'_>,
    ) -> Result<(), ServeError> {
        hermes_core::wait::wait(self.serve(stop, grace, tell))
    }

    /// The same as [`Cron::run_now`], from code that just waits.
    pub fn run_now_blocking(&self, name: &str, stop: &CancellationToken) -> Result<Run, JobError> {
        hermes_core::wait::wait(self.run_now(name, stop))
    }

    fn become_server(&self) -> Result<Server, ServeError> {
        let mut taken = None;
        for _ in 0..LOCK_TRIES {
            let tried = self.home.serve(std::process::id(), self.now()?);
            match tried.map_err(|wrong| JobError::Store(wrong.to_string()))? {
                Ok(server) => return Ok(server),
                Err(who) => taken = who,
            }
            self.clock.pause(LOCK_PAUSE);
        }
        Err(ServeError::Taken(taken))
    }
}

/// When to look again.
#[derive(Default)]
struct Looks {
    last: Option<Timestamp>,
    next: Option<Timestamp>,
    seen: Option<hermes_store::cron::Stamp>,
}

impl Looks {
    fn is_time(&self, cron: &Cron) -> bool {
        let (Some(last), Ok(now)) = (self.last, cron.now()) else { return true };
        let due = self.next.is_some_and(|next| next > last && next <= now);
        // A clock that was put back is a reason to look, too.
        due || now < last || last.duration_until(now) >= ANYWAY || cron.home.stamp() != self.seen
    }
}

/// What is claimed and not begun, and which jobs go on.
struct Desk<'a> {
    cron: &'a Cron,
    tell: Tell<'a>,
    cancel: &'a CancellationToken,
    waiting: VecDeque<Claim>,
    busy: BTreeSet<String>,
    fold: Fold,
}

/// Whether runs have changed something that the file of jobs does not say yet.
#[derive(Default)]
struct Fold {
    wanted: bool,
    goes_on: bool,
    /// When it was begun last.
    last: Option<Timestamp>,
}

impl<'a> Desk<'a> {
    fn look(&mut self, worker: &Worker, running: &Running<'a>) -> Looks {
        let now = self.cron.now().ok();
        let found = self.cron.here().and_then(|here| self.cron.home.claim_due(worker, &here));
        let next = match found {
            Ok(found) => {
                found.interrupted.iter().for_each(|run| (self.tell)(Happening::Interrupted(run)));
                found.missed.iter().for_each(|run| (self.tell)(Happening::Missed(run)));
                let cron = self.cron;
                for run in found.interrupted.into_iter().chain(found.missed) {
                    running.push(Box::pin(async move {
                        Over::Notice(run.job_id.clone(), cron.report(run).await)
                    }));
                }
                for (job, why) in &found.unreadable {
                    (self.tell)(Happening::Trouble(&format!("job {job}: {why}")));
                }
                // What this look changed, or another one before it that was cut off.
                self.fold.wanted = true;
                self.waiting.extend(found.claims);
                found.next
            }
            Err(wrong) => {
                (self.tell)(Happening::Trouble(&wrong.to_string()));
                None
            }
        };
        Looks { last: now, next, seen: self.cron.home.stamp() }
    }

    /// Begins what may begin: not too many at once, and no job beside itself.
    fn start(&mut self, running: &mut Running<'a>) {
        let most = usize::try_from(self.cron.runtime.settings().cron.max_parallel_jobs).unwrap_or(1).max(1);
        while self.busy.len() < most {
            let free = self.waiting.iter().position(|claim| !self.busy.contains(&claim.job.id));
            let Some(claim) = free.and_then(|at| self.waiting.remove(at)) else { return };
            (self.tell)(Happening::Began(&claim));
            self.busy.insert(claim.job.id.clone());
            let (cron, cancel) = (self.cron, self.cancel);
            running.push(Box::pin(async move {
                let end = cron.run(&claim, cancel).await;
                Over::Run(Box::new((claim, end)))
            }));
        }
    }

    /// Brings what runs have changed into the file of jobs, not more often than once a nap.
    fn fold(&mut self, running: &Running<'a>) {
        let now = self.cron.now().ok();
        let rests = now.zip(self.fold.last).is_some_and(|(now, last)| {
            !self.busy.is_empty() && (SignedDuration::ZERO..PAUSE).contains(&last.duration_until(now))
        });
        if self.fold.wanted && !self.fold.goes_on && !rests {
            self.fold = Fold { wanted: false, goes_on: true, last: now };
            let cron = self.cron;
            running.push(Box::pin(async move { Over::Fold(cron.fold().await) }));
        }
    }

    /// Waits for the end of a run, for the next nap's end, or for the end of all.
    async fn wait(&mut self, running: &mut Running<'a>, stop: &CancellationToken) {
        let nap = self.cron.runtime.host().sleep(NAP);
        let pause = select(nap, Box::pin(stop.cancelled()));
        if running.is_empty() {
            pause.await;
            return;
        }
        if let Either::Left((Some(over), _)) = select(running.next(), pause).await {
            self.over(&over);
        }
    }

    fn over(&mut self, over: &Over) {
        match over {
            Over::Run(run) => self.ended(&run.0, &run.1),
            Over::Notice(job, Some(why)) => (self.tell)(Happening::Trouble(&format!("job {job}: {why}"))),
            Over::Fold(folded) => {
                self.fold.goes_on = false;
                if let Err(wrong) = folded {
                    (self.tell)(Happening::Trouble(&wrong.to_string()));
                    self.fold.wanted = true;
                }
            }
            Over::Notice(_, None) => {}
        }
    }

    fn ended(&mut self, claim: &Claim, end: &Result<Run, JobError>) {
        self.busy.remove(&claim.job.id);
        self.fold.wanted = true;
        match end {
            Ok(run) => (self.tell)(Happening::Ended(run)),
            Err(wrong) => (self.tell)(Happening::Trouble(&format!("job {}: {wrong}", claim.job.id))),
        }
    }

    /// Lets what runs come to its end, and writes down what does not begin any more.
    async fn close(mut self, mut running: Running<'a>, grace: Duration) {
        (self.tell)(Happening::Stopping(self.busy.len()));
        for claim in std::mem::take(&mut self.waiting) {
            let end = self.cron.never_began(&claim, "the scheduler was stopped before it began").await;
            self.ended(&claim, &end);
        }
        for (time, cancels) in [(grace, true), (WIND_UP, false)] {
            let host = self.cron.runtime.host();
            let mut over = host.sleep(time).fuse();
            while !running.is_empty() {
                match select(running.next(), &mut over).await {
                    Either::Left((Some(over), _)) => self.over(&over),
                    Either::Left((None, _)) | Either::Right(_) => break,
                }
            }
            if cancels {
                self.cancel.cancel();
            }
        }
        if let Err(wrong) = self.cron.fold().await {
            (self.tell)(Happening::Trouble(&wrong.to_string()));
        }
    }
}
