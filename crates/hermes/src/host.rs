//! The host: the one place that keeps time and starts threads.
//!
//! The async runtime behind it starts when something first needs to wait or to block, so that a
//! command that only lists things never pays for it. Work that is polled elsewhere (by the
//! caller's own runtime, or by a thread that just waits) can use it all the same.

#![expect(clippy::disallowed_methods, reason = "this is the host: clock, timer and threads are its job")]

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use hermes_core::host::Host;
use hermes_core::wait;
use hermes_store::sessions::Clock;
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that may block at once; a handler that never returns costs one of them, not the program.
const BLOCKING_THREADS: usize = 64;

/// Threads that drive timers and sockets.
const ASYNC_THREADS: usize = 2;

thread_local! {
    /// Whether this is one of the threads that drive timers and sockets.
    static DRIVES: Cell<bool> = const { Cell::new(false) };
}

/// Does something that takes a while and is not async. A thread that drives timers and sockets hands them
/// over first: if those threads just waited, nobody would be left to bring what they wait for.
pub(crate) fn aside<R>(work: impl FnOnce() -> R) -> R {
    if DRIVES.get() { tokio::task::block_in_place(work) } else { work() }
}

/// Lets others go first, if there is somebody.
pub(crate) fn give_way() {
    std::thread::yield_now();
}

/// Waits for async work from code that is not, on whatever thread that is.
pub(crate) fn wait_aside<F: Future>(work: F) -> F::Output {
    aside(|| wait::wait(work))
}

/// Clock, timer and threads of this process.
pub(crate) struct Machine {
    started: Instant,
    given: AtomicU64,
    runtime: OnceLock<Option<Runtime>>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), given: AtomicU64::new(0), runtime: OnceLock::new() }
    }

    /// What the clock on the wall says.
    pub(crate) fn wall() -> SystemTime {
        SystemTime::now()
    }

    /// A number that differs from the last one, and from that of another process at the same moment.
    pub(crate) fn chance() -> u32 {
        use std::hash::{BuildHasher, RandomState};
        let mixed = RandomState::new().hash_one((std::process::id(), Self::wall()));
        u32::try_from(mixed >> 32).unwrap_or_default()
    }

    /// A name no other process and no other call of this gets.
    pub(crate) fn unique(&self) -> String {
        let since_epoch = Self::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{:x}-{number:x}", since_epoch.as_micros(), std::process::id())
    }

    /// The async runtime, unless the system would not give us its threads.
    fn runtime(&self) -> Option<&Runtime> {
        let start = || {
            Builder::new_multi_thread()
                .worker_threads(ASYNC_THREADS)
                .max_blocking_threads(BLOCKING_THREADS)
                .thread_name("hermes")
                .on_thread_start(|| DRIVES.set(true))
                .enable_all()
                .build()
                .ok()
        };
        self.runtime.get_or_init(start).as_ref()
    }
}

impl Machine {
    /// The async runtime, for work with sockets.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.runtime().map(|runtime| runtime.handle().clone())
    }
}

impl Host for Machine {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        match self.runtime() {
            Some(runtime) => {
                let _inside = runtime.enter();
                Box::pin(tokio::time::sleep(time))
            }
            // Without a timer every wait is over at once: calls time out instead of hanging.
            None => Box::pin(std::future::ready(())),
        }
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        match self.runtime() {
            Some(runtime) => drop(runtime.spawn_blocking(job)),
            // Dropping the job tells whoever waits for it that the worker is lost.
            None => drop(job),
        }
    }
}

impl Clock for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The last owner may be async code, where waiting for threads is not allowed.
        if let Some(runtime) = self.runtime.take().flatten() {
            runtime.shutdown_background();
        }
    }
}
