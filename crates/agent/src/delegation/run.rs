//! Runs children at the same time. Whatever becomes of one, the others go on, and each task gets a
//! report.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use hermes_core::host::Host;
use tokio_util::sync::CancellationToken;

use super::plan::{ChildTask, Limits};
use super::report::{ChildReport, ChildStatus, Delegated};
use super::trace::Trace;
use crate::driver::Driver;
use crate::event::{Event, EventSink};
use crate::patience::{Patience, Woken};
use crate::steering::Steering;

/// Opens children. The composition root implements it: a session of its own, the parent's toolsets
/// less what children may not have, and an approver that asks nobody.
pub trait Children: Send + Sync {
    /// Opens the child for a task.
    fn open<'a>(&'a self, task: &'a ChildTask) -> BoxFuture<'a, Result<Child, String>>;
}

/// A child, ready to begin.
pub struct Child {
    /// Drives it.
    pub driver: Driver,
    /// Its session's id.
    pub session: String,
    /// Hears of its calls, when its session's watcher tells it.
    pub trace: Trace,
}

/// Lets children do the tasks, at most `limits.at_once` at a time.
pub async fn delegate(
    host: &Arc<dyn Host>,
    tasks: &[ChildTask],
    children: &dyn Children,
    limits: &Limits,
    events: EventSink<'_>,
    cancel: &CancellationToken,
) -> Delegated {
    let began = host.now();
    let since = || host.now().saturating_sub(began).as_secs_f64();
    let run = |task: &ChildTask| {
        let task = task.clone();
        async move {
            let whole = AssertUnwindSafe(one(host, &task, children, limits, cancel)).catch_unwind();
            let report = whole
                .await
                .unwrap_or_else(|_| ChildReport::broken(task.index, "the child broke".to_owned(), since()));
            let text = format!("subagent {}: {}", task.index + 1, report.exit_reason);
            events(Event::Notice { text });
            report
        }
    };
    // `buffered` keeps the order; a child that ends early makes room for the next one.
    let results: Vec<ChildReport> =
        stream::iter(tasks.iter().map(run)).buffered(limits.at_once.max(1)).collect().await;
    Delegated { results, total_duration_seconds: since() }
}

async fn one(
    host: &Arc<dyn Host>,
    task: &ChildTask,
    children: &dyn Children,
    limits: &Limits,
    cancel: &CancellationToken,
) -> ChildReport {
    let began = host.now();
    let child = match children.open(task).await {
        Ok(child) => child,
        Err(error) => {
            let seconds = host.now().saturating_sub(began).as_secs_f64();
            return ChildReport::broken(task.index, error, seconds);
        }
    };
    let stop = cancel.child_token();
    let steering = Steering::default();
    let mut turn: BoxFuture<'_, _> =
        Box::pin(child.driver.turn(&child.session, task.input(), &steering, &|_| {}, &stop));
    let ends = began.saturating_add(limits.timeout.unwrap_or(Duration::MAX));
    // The turn itself hears of `cancel`; here only the time is watched.
    let never = CancellationToken::new();
    let patience = Patience { host, cancel: &never, ends, pulse: None };
    let (end, late) = match patience.wait(&mut turn).await {
        Woken::Done(end) => (end, false),
        Woken::Cancelled | Woken::TimeOver | Woken::Stalled => {
            stop.cancel();
            (turn.await, true)
        }
    };
    let mut report = ChildReport::ended(task.index, end, child.trace.calls(), limits);
    if late {
        report.status = ChildStatus::Timeout;
        report.exit_reason = "timeout";
    }
    report
}
