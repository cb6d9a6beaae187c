//! Carries what is said to a vendor: one thread of the host drives it all, however many programs run.
//!
//! Sockets need a reactor; whoever polls a far place may have none. The host's threads have.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures::StreamExt as _;
use futures::channel::{mpsc, oneshot};
use futures::future::{BoxFuture, select};
use hermes_core::host::{Host, WorkerLost};
use hermes_core::wait::wait;

type Work = BoxFuture<'static, ()>;

/// Drives work on a thread of the host. The thread starts with the first piece of it, and ends with this.
pub(super) struct Carrier {
    host: Arc<dyn Host>,
    thread: Mutex<Thread>,
}

enum Thread {
    /// It is not needed so far.
    NotYet,
    /// It takes work, until what is held here is dropped.
    Runs { line: mpsc::UnboundedSender<Work>, _alive: oneshot::Sender<()> },
    /// There will be none any more.
    Over,
}

impl Carrier {
    pub(super) fn new(host: Arc<dyn Host>) -> Self {
        Self { host, thread: Mutex::new(Thread::NotYet) }
    }

    /// Begins something that nobody waits for.
    pub(super) fn start(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Thread::NotYet = &*thread {
            let ((line, coming), (alive, over)) = (mpsc::unbounded(), oneshot::channel());
            self.host.run_blocking(Box::new(move || wait(drive(coming, over))));
            *thread = Thread::Runs { line, _alive: alive };
        }
        // Without a thread the work is dropped, which those who wait for it notice.
        if let Thread::Runs { line, .. } = &*thread {
            let _ = line.unbounded_send(Box::pin(work));
        }
    }

    /// Whether anything was ever begun, and more may be.
    pub(super) fn runs(&self) -> bool {
        matches!(*self.thread.lock().unwrap_or_else(PoisonError::into_inner), Thread::Runs { .. })
    }

    /// Drops whatever is going on, and takes no more: the host may be gone at any moment.
    pub(super) fn end(&self) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Thread::Over;
    }

    /// Does something and waits for what comes of it. It is done to its end even if nobody waits.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, WorkerLost> {
        let (tell, told) = oneshot::channel();
        self.start(async move {
            // Whoever asked may have changed their mind.
            let _ = tell.send(work.await);
        });
        told.await.map_err(|_| WorkerLost)
    }
}

/// Lets the others have their turn. One thread carries everything, and what always has more to say would
/// be the only one that is listened to.
pub(super) async fn breathe() {
    let mut waited = false;
    futures::future::poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn drive(coming: mpsc::UnboundedReceiver<Work>, over: oneshot::Receiver<()>) {
    let all = coming.for_each_concurrent(None, |work| work);
    select(all, over).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Threads;

    impl Host for Threads {
        fn now(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }

        fn sleep(&self, _: std::time::Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        #[expect(clippy::disallowed_methods, reason = "a host for the test")]
        fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
            std::thread::spawn(job);
        }
    }

    #[test]
    fn who_always_has_more_to_say_does_not_hold_up_the_others() {
        let carrier = Carrier::new(Arc::new(Threads));
        carrier.start(async {
            loop {
                breathe().await;
            }
        });

        assert_eq!(wait(carrier.run(async { 1 })), Ok(1));
    }

    #[test]
    fn what_waits_does_not_hold_up_what_comes_later() {
        let carrier = Carrier::new(Arc::new(Threads));
        let (tell, told) = oneshot::channel::<u32>();

        let late = carrier.run(async move { told.await.unwrap_or_default() });
        let early = carrier.run(async { 1 });

        let both = async {
            let late = late;
            futures::pin_mut!(late);
            assert!(futures::poll!(&mut late).is_pending());
            assert_eq!(early.await, Ok(1));
            tell.send(2).unwrap();
            late.await
        };
        assert_eq!(wait(both), Ok(2));
        carrier.end();
        assert_eq!(wait(carrier.run(async { 3 })), Err(WorkerLost));
    }
}
