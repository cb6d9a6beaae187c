//! Steps 6 and 7: write down what is about to happen, then do it under a deadline, cancellation
//! and panic guard.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::cx::ToolCx;
use crate::error::ToolError;
use crate::hook::CallView;
use crate::journal::Starting;
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
}

impl Road {
    pub(super) async fn run(
        &self,
        session: &Session,
        ready: Ready,
        cancel: &CancellationToken,
        left: Duration,
    ) -> (Ran, Result<Reply, ToolError>) {
        let Ready { view, entry, prepared, effects, digest, notes } = ready;
        let mut ran = Ran { view, entry, digest, took: Duration::ZERO, notes };
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
        let clearance = Clearance::new(ran.view.id.clone(), effects);
        let stop = cancel.child_token();
        let tool = Arc::clone(&ran.view.tool);
        let cx = ToolCx::new(tool, session.clone(), clearance, Arc::clone(&self.services), stop.clone());
        let begin = self.services.host.now();
        let limit = ran.entry.time_limit().unwrap_or(self.limits.call).min(left);
        let end = self.within(limit, &stop, ran_safely(prepared, &cx)).await;
        // Whatever the handler left behind on other threads is told to stop.
        stop.cancel();
        ran.took = self.services.host.now().saturating_sub(begin);
        (ran, end)
    }

    /// The work's answer, or that it took too long or was taken back.
    async fn within(
        &self,
        limit: Duration,
        stop: &CancellationToken,
        work: impl Future<Output = Result<Reply, ToolError>> + Send,
    ) -> Result<Reply, ToolError> {
        let mut work = Box::pin(work);
        // Quick work is done on the first look; timer and waiting are for the rest.
        if let Some(done) = (&mut work).now_or_never() {
            return done;
        }
        let over = select(self.services.host.sleep(limit), Box::pin(stop.cancelled()));
        match select(work, over).await {
            Either::Left((done, _)) => done,
            Either::Right((Either::Left(_), _)) => Err(ToolError::TimedOut(limit)),
            Either::Right((Either::Right(_), _)) => Err(ToolError::Cancelled),
        }
    }
}

async fn ran_safely(prepared: Box<dyn PreparedCall>, cx: &ToolCx) -> Result<Reply, ToolError> {
    let work = AssertUnwindSafe(async move { prepared.run(cx).await });
    work.catch_unwind().await.unwrap_or_else(|payload| Err(ToolError::broken(payload.as_ref())))
}
