//! When work on files has to end: nobody waits for it, or it took too long.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_core::files::SearchStop;
use hermes_core::host::Host;

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// A search ends after this time, with what it has.
    pub(crate) time: Duration,
    /// Once the page is full, what lies behind it is counted only until this time.
    pub(crate) counting: Duration,
    /// Matching lines behind the page are counted up to here.
    pub(crate) lines: u64,
    /// Files behind the page are counted up to here.
    pub(crate) files: u64,
}

impl Limits {
    /// What searches are held to.
    pub(crate) const DEFAULT: Self = Self {
        time: Duration::from_mins(1),
        counting: Duration::from_secs(10),
        lines: 1_000_000,
        files: 100_000,
    };
}

/// Tells running work whether it has to end.
#[derive(Clone)]
pub(crate) struct Stop {
    host: Arc<dyn Host>,
    started: Duration,
    limits: Limits,
    cancelled: Arc<AtomicBool>,
}

impl Stop {
    /// Starts the clock.
    pub(crate) fn new(host: Arc<dyn Host>, limits: Limits) -> Self {
        let started = host.now();
        Self { host, started, limits, cancelled: Arc::new(AtomicBool::new(false)) }
    }

    /// The limits given at the start.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether the caller went away.
    pub(crate) fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Why the search must end now, if it must.
    pub(crate) fn over(&self) -> Option<SearchStop> {
        if self.cancelled() {
            return Some(SearchStop::Cancelled);
        }
        (self.elapsed() >= self.limits.time).then_some(SearchStop::Time)
    }

    /// Whether the time for counting behind a full page is used up.
    pub(crate) fn counted_enough(&self) -> bool {
        self.elapsed() >= self.limits.counting
    }

    fn elapsed(&self) -> Duration {
        self.host.now().saturating_sub(self.started)
    }
}

/// Ends the work when it is dropped, for example with the future that waited for it.
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// A guard for the work that was given `stop`.
    pub(crate) fn of(stop: &Stop) -> Self {
        Self(Arc::clone(&stop.cancelled))
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A reader that fails as soon as the work has to end, so that one huge file cannot hold it up.
pub(crate) struct Stoppable<'a, R> {
    pub(crate) inner: R,
    pub(crate) stop: &'a Stop,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.over().is_some() {
            return Err(io::Error::other("stopped"));
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::AtomicU64;

    use futures::future::BoxFuture;

    use super::*;

    /// A host whose clock goes on by `tick` each time it is looked at.
    pub(crate) struct TickingHost {
        pub(crate) tick: u64,
        pub(crate) millis: AtomicU64,
    }

    impl Host for TickingHost {
        fn now(&self) -> Duration {
            Duration::from_millis(self.millis.fetch_add(self.tick, Ordering::Relaxed))
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(async {})
        }

        fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
            std::thread::spawn(job);
        }
    }

    /// A stop whose clock goes on by `tick` milliseconds with every look.
    pub(crate) fn ticking(tick: u64, limits: Limits) -> Stop {
        Stop::new(Arc::new(TickingHost { tick, millis: AtomicU64::new(0) }), limits)
    }

    /// A stop that never comes by itself.
    pub(crate) fn never() -> Stop {
        ticking(0, Limits::DEFAULT)
    }

    #[test]
    fn time_runs_out_and_dropping_the_guard_cancels() {
        let stop = ticking(20_000, Limits::DEFAULT);
        assert_eq!(stop.over(), None);
        assert!(stop.counted_enough());
        assert_eq!(stop.over(), Some(SearchStop::Time));

        let stop = never();
        drop(StopOnDrop::of(&stop));
        assert_eq!(stop.over(), Some(SearchStop::Cancelled));
    }

    #[test]
    fn a_stopped_reader_gives_no_more_bytes() {
        let stop = never();
        let mut reader = Stoppable { inner: io::repeat(7), stop: &stop };
        let mut buffer = [0; 4];
        assert_eq!(reader.read(&mut buffer).unwrap(), 4);

        drop(StopOnDrop::of(&stop));
        assert!(reader.read(&mut buffer).is_err());
    }
}
