//! Waits for something, but not for ever: until it is taken back, until time is over, or until
//! nothing has been heard of it for too long.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::future::{BoxFuture, poll_fn};
use hermes_core::host::Host;
use tokio_util::sync::CancellationToken;

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Woken<T> {
    /// What was waited for is there.
    Done(T),
    /// It was taken back.
    Cancelled,
    /// Time is over.
    TimeOver,
    /// Nothing was heard for too long.
    Stalled,
    /// What was heard is enough.
    Enough,
}

/// When something was last heard.
pub(crate) struct Pulse {
    host: Arc<dyn Host>,
    /// Milliseconds of the host's clock.
    last: AtomicU64,
    /// Whether it was ever heard.
    beats: AtomicU64,
    /// Whether nothing more needs to be heard.
    enough: AtomicBool,
}

impl Pulse {
    pub(crate) fn new(host: &Arc<dyn Host>) -> Self {
        let (last, beats) = (AtomicU64::new(millis(host.now())), AtomicU64::new(0));
        Self { host: Arc::clone(host), last, beats, enough: AtomicBool::new(false) }
    }

    /// Nothing more needs to be heard.
    pub(crate) fn enough(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// It was heard.
    pub(crate) fn beat(&self) {
        self.last.store(millis(self.host.now()), Ordering::Relaxed);
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// How long there is left until it counts as stalled.
    fn left(&self, quiet: Quiet) -> Duration {
        let limit = if self.beats.load(Ordering::Relaxed) == 0 { quiet.first } else { quiet.between };
        let since = millis(self.host.now()).saturating_sub(self.last.load(Ordering::Relaxed));
        limit.saturating_sub(Duration::from_millis(since))
    }
}

/// How long it may be quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quiet {
    /// Before anything is heard.
    pub(crate) first: Duration,
    /// Between two times.
    pub(crate) between: Duration,
}

/// What ends a wait early.
pub(crate) struct Patience<'a> {
    pub(crate) host: &'a Arc<dyn Host>,
    pub(crate) cancel: &'a CancellationToken,
    /// When time is over, on the host's clock.
    pub(crate) ends: Duration,
    pub(crate) pulse: Option<(&'a Pulse, Quiet)>,
}

impl Patience<'_> {
    /// Waits; what has come counts even if the patience ended at the same moment.
    pub(crate) async fn wait<T>(&self, wanted: &mut BoxFuture<'_, T>) -> Woken<T> {
        let mut cancelled = std::pin::pin!(self.cancel.cancelled());
        let mut over = self.host.sleep(self.ends.saturating_sub(self.host.now()));
        let mut quiet = self.pulse.map(|(pulse, quiet)| self.host.sleep(pulse.left(quiet)));
        poll_fn(|cx| {
            if let Poll::Ready(done) = wanted.as_mut().poll(cx) {
                return Poll::Ready(Woken::Done(done));
            }
            if self.pulse.is_some_and(|(pulse, _)| pulse.enough.load(Ordering::Relaxed)) {
                return Poll::Ready(Woken::Enough);
            }
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Woken::Cancelled);
            }
            if over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Woken::TimeOver);
            }
            let (Some(timer), Some((pulse, limit))) = (&mut quiet, self.pulse) else { return Poll::Pending };
            while Pin::new(&mut *timer).poll(cx).is_ready() {
                let left = pulse.left(limit);
                if left.is_zero() {
                    return Poll::Ready(Woken::Stalled);
                }
                *timer = self.host.sleep(left);
            }
            Poll::Pending
        })
        .await
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::future::join;
    use hermes_testkit::FakeHost;

    use super::*;

    const QUIET: Quiet = Quiet { first: Duration::from_secs(10), between: Duration::from_secs(5) };

    fn never() -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    #[test]
    fn a_beat_puts_the_stall_off() {
        let fake = FakeHost::new();
        let host: Arc<dyn Host> = fake.clone();
        let (pulse, cancel) = (Pulse::new(&host), CancellationToken::new());
        let ends = host.now() + Duration::from_hours(1);
        let patience = Patience { host: &host, cancel: &cancel, ends, pulse: Some((&pulse, QUIET)) };

        let began = host.now();
        let mut wanted = never();
        let (woken, ()) = block_on(join(patience.wait(&mut wanted), async {
            fake.until_sleeping(Duration::from_secs(10)).await;
            fake.advance(Duration::from_secs(8));
            pulse.beat();
            fake.pass(Duration::from_secs(2)).await;
            fake.pass(Duration::from_secs(3)).await;
        }));

        assert_eq!(woken, Woken::Stalled);
        assert_eq!(host.now().saturating_sub(began), Duration::from_secs(13));
    }

    #[test]
    fn what_is_there_wins_over_everything() {
        let host: Arc<dyn Host> = FakeHost::new();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let patience = Patience { host: &host, cancel: &cancel, ends: Duration::ZERO, pulse: None };

        let mut ready: BoxFuture<'_, u8> = Box::pin(std::future::ready(1));
        assert_eq!(block_on(patience.wait(&mut ready)), Woken::Done(1));
        assert_eq!(block_on(patience.wait(&mut never())), Woken::Cancelled);
    }

    #[test]
    fn time_over_is_not_a_stall() {
        let host: Arc<dyn Host> = FakeHost::new();
        let cancel = CancellationToken::new();
        let patience = Patience { host: &host, cancel: &cancel, ends: host.now(), pulse: None };

        assert_eq!(block_on(patience.wait(&mut never())), Woken::TimeOver);
    }
}
