//! Waiting for async work from plain blocking code.
//!
//! It parks the calling thread and needs no runtime, so it also works on a thread that already
//! belongs to one: that thread is simply busy until the work is done.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use crate::host::Host;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs the work to its end on this thread.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut work = pin!(work);
    loop {
        match work.as_mut().poll(&mut cx) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// The same, but no longer than `limit`; no timer is needed, so it works while everything ends.
pub fn wait_at_most<T>(work: impl Future<Output = T>, limit: Duration, host: &Arc<dyn Host>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut work = pin!(work);
    let until = host.now() + limit;
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut cx) {
            return Some(done);
        }
        let left = until.saturating_sub(host.now());
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}
