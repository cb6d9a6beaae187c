//! What nobody waits for. Programs have a short queue, a few at a time, and plugins a line each, which is only
//! counted here, as is what did not fit. What went wrong with hooks is kept here until somebody asks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_core::host::Host;

/// Most programs that wait for their turn.
const MAX_WAITING: usize = 64;
/// Most that run at once.
const AT_ONCE: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

/// The queue. Clones are the same one.
#[derive(Clone)]
pub struct Observers(Arc<Inner>);

struct Inner {
    host: Arc<dyn Host>,
    state: Mutex<State>,
    quiet: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    running: usize,
    /// Those who are at work elsewhere.
    elsewhere: usize,
    /// What waits there.
    waiting_elsewhere: usize,
    dropped: u64,
    failures: VecDeque<String>,
}

/// One that counts until it is dropped.
pub(crate) struct Counted {
    of: Observers,
    what: fn(&mut State) -> &mut usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut state = self.of.lock();
        let count = (self.what)(&mut state);
        *count = count.saturating_sub(1);
        drop(state);
        self.of.0.quiet.notify_all();
    }
}

impl Observers {
    /// None so far; they run on the threads of `host`.
    pub fn new(host: &Arc<dyn Host>) -> Self {
        let (host, state, quiet) = (Arc::clone(host), Mutex::default(), Condvar::new());
        Self(Arc::new(Inner { host, state, quiet }))
    }

    /// Runs something by and by; returns at once. When too much waits already, it is dropped and
    /// counted, and the answer is `false`. What comes back from the work is why it failed.
    pub(crate) fn add(&self, work: impl FnOnce() -> Result<(), String> + Send + 'static) -> bool {
        let own = Self(Arc::clone(&self.0));
        let job: Job = Box::new(move || {
            if let Err(why) = work() {
                own.note(why);
            }
        });
        let mut state = self.lock();
        if state.waiting.len() >= MAX_WAITING {
            state.dropped += 1;
            return false;
        }
        state.waiting.push_back(job);
        if state.running < AT_ONCE {
            state.running += 1;
            drop(state);
            let own = Self(Arc::clone(&self.0));
            self.0.host.run_blocking(Box::new(move || own.work_off()));
        }
        true
    }

    /// Somebody is at work elsewhere until this is dropped.
    pub(crate) fn at_work(&self) -> Counted {
        self.count(|state| &mut state.elsewhere)
    }

    /// Something waits elsewhere until this is dropped.
    pub(crate) fn waits(&self) -> Counted {
        self.count(|state| &mut state.waiting_elsewhere)
    }

    fn count(&self, what: fn(&mut State) -> &mut usize) -> Counted {
        *what(&mut self.lock()) += 1;
        Counted { of: self.clone(), what }
    }

    /// Counts what nobody is told.
    pub(crate) fn drop_some(&self, count: usize) {
        self.lock().dropped += u64::try_from(count).unwrap_or(u64::MAX);
    }

    /// How much waits that nobody has been told yet.
    pub fn waiting(&self) -> usize {
        let state = self.lock();
        state.waiting.len() + state.waiting_elsewhere
    }

    /// Keeps what went wrong with a hook, for whoever asks.
    pub fn note(&self, why: String) {
        let mut state = self.lock();
        if state.failures.len() == MAX_WAITING {
            state.failures.pop_front();
        }
        state.failures.push_back(why);
    }

    /// How many were dropped because too much waited.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// What went wrong since this was last asked.
    pub fn failures(&self) -> Vec<String> {
        self.lock().failures.drain(..).collect()
    }

    /// Waits until all are done, but no longer than `limit`; says whether they are.
    pub fn settle(&self, limit: Duration) -> bool {
        let busy = |state: &mut State| state.running + state.elsewhere + state.waiting_elsewhere > 0;
        let waited = self.0.quiet.wait_timeout_while(self.lock(), limit, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn work_off(&self) {
        loop {
            let mut state = self.lock();
            let Some(job) = state.waiting.pop_front() else {
                state.running -= 1;
                drop(state);
                self.0.quiet.notify_all();
                return;
            };
            drop(state);
            // A job that breaks costs itself alone.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
