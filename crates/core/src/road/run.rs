//! Steps 6 and 7: write down what is about to happen, then do it under a deadline, cancellation
//! and panic guard.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::cx::{Running, ToolCx};
use crate::definitions::Toolbox;
use crate::environment::Held;
use crate::error::ToolError;
use crate::hook::CallView;
use crate::journal::Starting;
use crate::outcome::Status;
use crate::permit::Clearance;
use crate::road::{Ready, Road, unbroken};
use crate::session::Session;
use crate::tool::{PreparedCall, Reply, ToolEntry};
use crate::watch::Watcher;

/// A call that has run, as far as it got.
pub(super) struct Ran {
    pub(super) view: CallView,
    pub(super) entry: Arc<ToolEntry>,
    pub(super) digest: u64,
    pub(super) took: Duration,
    pub(super) notes: Vec<String>,
    /// Why it was stopped, when it answered all the same.
    pub(super) stopped: Option<Status>,
}

/// How long a stopped call that winds up by itself may take for it.
const WIND_UP: Duration = Duration::from_secs(5);

impl Road {
    pub(super) async fn run(
        &self,
        session: &Session,
        toolbox: &Arc<Toolbox>,
        ready: Ready,
        cancel: &CancellationToken,
        left: Duration,
    ) -> (Ran, Result<Reply, ToolError>) {
        let Ready { view, entry, prepared, effects, digest, notes } = ready;
        let mut ran = Ran { view, entry, digest, took: Duration::ZERO, notes, stopped: None };
        if cancel.is_cancelled() {
            return (ran, Err(ToolError::Cancelled));
        }
        if left.is_zero() {
            return (ran, Err(ToolError::OutOfTime(self.limits.batch)));
        }
        let start = Starting {
            id: &ran.view.id,
            given_id: &ran.view.given_id,
            session: session.id(),
            tool: &ran.view.tool,
            arguments: &ran.view.arguments,
            effects: &effects,
        };
        if let Some(journal) = &self.journal
            && let Err(why) = unbroken(async { journal.starting(&start).await }).await
        {
            return (ran, Err(ToolError::Unrecorded(why)));
        }
        if let Some(watcher) = session.extensions().get::<Arc<dyn Watcher>>() {
            watcher.began(&start);
        }
        let environment = self.environment_of(session, &ran.entry, &ran.view.arguments);
        let there = match self.there(environment) {
            Ok(there) => there.filter(|_| ran.entry.is_placed()).map(|_| Arc::from(environment)),
            Err(unknown) => return (ran, Err(unknown)),
        };
        let environment = Arc::from(environment);
        let clearance = Clearance::new(ran.view.id.clone(), effects).in_environment(there.clone());
        let stop = cancel.child_token();
        let cx = ToolCx::new(Running {
            given_id: ran.view.given_id.clone(),
            tool: Arc::clone(&ran.view.tool),
            session: session.clone(),
            clearance,
            environment,
            there,
            road: self.clone(),
            toolbox: Arc::clone(toolbox),
            within: ran.view.within.clone(),
            cancel: stop.clone(),
        });
        let placed = ran.entry.is_placed();
        let _listening = placed.then(|| self.listening(cx.environment(), session, &ran.view.id)).flatten();
        let begin = self.services.host.now();
        let limit = ran.entry.time_limit().unwrap_or(self.limits.call).min(left);
        let winds_up = ran.entry.winds_up();
        let reach = ran.entry.reached_within();
        let over = self.over(&cx, begin, limit, reach.map(|reach| (reach, begin.saturating_add(left))));
        let (end, stopped) = self.within((limit, over), &stop, winds_up, ran_safely(prepared, &cx)).await;
        ran.stopped = stopped;
        ran.notes.extend(cx.take_notes());
        // Whatever the handler left behind on other threads is told to stop.
        stop.cancel();
        ran.took = self.services.host.now().saturating_sub(begin);
        let end = end.map_err(|error| match error {
            ToolError::TimedOut(_) if reach.is_some() && cx.sent_at().is_none() => {
                ToolError::NotSent(ran.took)
            }
            ToolError::TimedOut(limit) if reach.is_some() => ToolError::Unanswered(limit),
            error => error,
        });
        (ran, end)
    }

    /// What has to be brought to a place before anything can begin there may take minutes: whoever looks
    /// on is told.
    fn listening(&self, environment: &str, session: &Session, call: &CallId) -> Option<Held> {
        let watcher = Arc::clone(session.extensions().get::<Arc<dyn Watcher>>()?);
        let (place, call) = (self.services.environments.find(environment).ok()?, call.clone());
        place.listen(Arc::new(move |words: &str| watcher.progress(&call, words)))
    }

    /// Waits until the time of a call is over. Where it runs elsewhere, the way there has a limit of its own, and
    /// does not count, as long as the moment has not come at which everything has to be over.
    async fn over(
        &self,
        cx: &ToolCx,
        begin: Duration,
        limit: Duration,
        elsewhere: Option<(Duration, Duration)>,
    ) {
        let host = &self.services.host;
        host.sleep(limit).await;
        let Some((reach, last)) = elsewhere else { return };
        loop {
            let sent = cx.sent_at();
            let end = sent.map_or(begin.saturating_add(reach), |sent| sent.saturating_add(limit));
            let left = end.min(last).saturating_sub(host.now());
            if left.is_zero() {
                return;
            }
            match sent {
                Some(_) => host.sleep(left).await,
                None => drop(select(host.sleep(left), cx.until_sent()).await),
            }
        }
    }

    /// The work's answer, or that it took too long or was taken back. Work that winds up by itself
    /// is told to stop, and what it has so far is its answer. `over` ends when the limit is over.
    async fn within(
        &self,
        (limit, over): (Duration, impl Future<Output = ()> + Send),
        stop: &CancellationToken,
        winds_up: bool,
        work: impl Future<Output = Result<Reply, ToolError>> + Send,
    ) -> (Result<Reply, ToolError>, Option<Status>) {
        let mut work = Box::pin(work);
        // Quick work is done on the first look; timer and waiting are for the rest.
        if let Some(done) = (&mut work).now_or_never() {
            return (done, None);
        }
        let over = select(Box::pin(over), Box::pin(stop.cancelled()));
        let (error, status, work) = match select(work, over).await {
            Either::Left((done, _)) => {
                let told = winds_up && stop.is_cancelled();
                return (done, told.then_some(Status::Cancelled));
            }
            Either::Right((Either::Left(_), work)) => (ToolError::TimedOut(limit), Status::TimedOut, work),
            Either::Right((Either::Right(_), work)) => (ToolError::Cancelled, Status::Cancelled, work),
        };
        stop.cancel();
        if winds_up
            && let Either::Left((Ok(reply), _)) = select(work, self.services.host.sleep(WIND_UP)).await
        {
            return (Ok(reply), Some(status));
        }
        (Err(error), None)
    }
}

async fn ran_safely(prepared: Box<dyn PreparedCall>, cx: &ToolCx) -> Result<Reply, ToolError> {
    let work = AssertUnwindSafe(async move { prepared.run(cx).await });
    work.catch_unwind().await.unwrap_or_else(|payload| Err(ToolError::broken(payload.as_ref())))
}
