//! A host whose clock stands still until a test moves it. Blocking work runs on real threads.

#![expect(clippy::disallowed_methods, reason = "a host starts threads, also a fake one")]

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::host::Host;

use crate::lock;

/// Clock and timer in the hands of the test.
#[derive(Default)]
pub struct FakeHost(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    next: u64,
    sleepers: BTreeMap<u64, (Duration, Waker)>,
    watchers: Vec<Waker>,
}

impl FakeHost {
    /// A host at some moment after its start.
    pub fn new() -> Arc<Self> {
        let host = Self::default();
        host.advance(Duration::from_secs(1000));
        Arc::new(host)
    }

    /// Moves the clock; whoever slept until then wakes up.
    pub fn advance(&self, time: Duration) {
        let mut state = lock(&self.0);
        state.now = state.now.saturating_add(time);
        let now = state.now;
        let due: Vec<Waker> = state
            .sleepers
            .values()
            .filter(|(until, _)| *until <= now)
            .map(|(_, waker)| waker.clone())
            .collect();
        drop(state);
        due.into_iter().for_each(Waker::wake);
    }

    /// How many sleep now.
    pub fn sleepers(&self) -> usize {
        lock(&self.0).sleepers.len()
    }

    /// Waits until somebody sleeps who would be woken by moving the clock this far.
    pub async fn until_sleeping(&self, time: Duration) {
        std::future::poll_fn(|cx| {
            let mut state = lock(&self.0);
            let wakes = state.now.saturating_add(time);
            if state.sleepers.values().any(|(until, _)| *until <= wakes) {
                return Poll::Ready(());
            }
            state.watchers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until somebody sleeps for at most this long, then moves the clock that far.
    pub async fn pass(&self, time: Duration) {
        self.until_sleeping(time).await;
        self.advance(time);
    }
}

impl Host for FakeHost {
    fn now(&self) -> Duration {
        lock(&self.0).now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut state = lock(&self.0);
        state.next += 1;
        let (id, until) = (state.next, state.now.saturating_add(time));
        Box::pin(Sleep { id, until, state: Arc::clone(&self.0) })
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}

struct Sleep {
    id: u64,
    until: Duration,
    state: Arc<Mutex<State>>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.now >= self.until {
            return Poll::Ready(());
        }
        state.sleepers.insert(self.id, (self.until, cx.waker().clone()));
        let watchers = std::mem::take(&mut state.watchers);
        drop(state);
        watchers.into_iter().for_each(Waker::wake);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        lock(&self.state).sleepers.remove(&self.id);
    }
}
