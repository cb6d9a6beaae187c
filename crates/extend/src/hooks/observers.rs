//! What nobody waits for, counted: who is at work, what waits, and what was dropped. What went wrong with hooks is
//! kept here until somebody asks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most failures that are kept.
const MAX_FAILURES: usize = 64;

/// Takes secrets out of a text.
type Clear = Box<dyn Fn(&str) -> String + Send + Sync>;

/// All observers of a runtime. Clones are the same ones.
#[derive(Clone)]
pub struct Observers(Arc<Inner>);

struct Inner {
    clear: Clear,
    state: Mutex<State>,
    quiet: Condvar,
}

#[derive(Default)]
struct State {
    at_work: usize,
    waiting: usize,
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
    /// None so far. What went wrong with hooks may quote them, and is kept as `clear` leaves it.
    pub fn new(clear: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let (state, quiet) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Inner { clear: Box::new(clear), state, quiet }))
    }

    /// Somebody is at work until this is dropped.
    pub(crate) fn at_work(&self) -> Counted {
        self.count(|state| &mut state.at_work)
    }

    /// Something waits until this is dropped.
    pub(crate) fn waits(&self) -> Counted {
        self.count(|state| &mut state.waiting)
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
        self.lock().waiting
    }

    /// Keeps what went wrong with a hook, for whoever asks.
    pub fn note(&self, why: &str) {
        let why = (self.0.clear)(why);
        let mut state = self.lock();
        if state.failures.len() == MAX_FAILURES {
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
        let busy = |state: &mut State| state.at_work + state.waiting > 0;
        let waited = self.0.quiet.wait_timeout_while(self.lock(), limit, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
