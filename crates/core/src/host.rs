//! What the core needs from the machine it runs on: a clock, a timer, a place for blocking work.
//!
//! The core keeps no time of its own and starts no threads; the composition root hands in a host.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;

/// Clock, timer and threads.
pub trait Host: Send + Sync + 'static {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;

    /// Ends after `time`.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Runs `job` on a thread that may block.
    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>);
}

/// The thread that ran the work is gone, because it panicked or the host is shutting down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker thread ended before it answered")]
pub struct WorkerLost;

/// Runs `work` off the async threads and waits for its answer.
pub async fn blocking<T: Send + 'static>(
    host: &Arc<dyn Host>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkerLost> {
    let (answer, wait) = oneshot::channel();
    host.run_blocking(Box::new(move || {
        // Nobody listens any more when the caller was cancelled; the answer is then not wanted.
        let _ = answer.send(work());
    }));
    wait.await.map_err(|_| WorkerLost)
}
