//! What is remembered about jobs over there, and what is to be told about them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::jobs::{Happening, JobState, Notice};
use tokio_util::sync::CancellationToken;

use crate::far::jobs::record::{Found, Record, Told};
use crate::jobs::{Burst, MAX_WAITING, Watch};

/// Most jobs of ours that are remembered.
const MAX_KNOWN: usize = 512;

/// What is remembered about the jobs of a place.
#[derive(Default)]
pub(in crate::far) struct FarJobs {
    state: Mutex<State>,
    pub(super) over: CancellationToken,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) known: BTreeMap<String, Known>,
    pub(super) waiting: VecDeque<Waiting>,
    wakers: Vec<Waker>,
    burst: Burst,
    pub(super) following: bool,
}

/// A job that was started by us, or taken over from somebody who is gone.
pub(super) struct Known {
    pub(super) record: Record,
    watch: Watch,
    pub(super) heard: Told,
    /// Whether there is more to hear.
    pub(super) open: bool,
}

/// Something to be taken, and what then is told of the job.
pub(super) struct Waiting {
    pub(super) notice: Notice,
    pub(super) told: Told,
}

impl FarJobs {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody will take anything any more.
    pub(in crate::far) fn end(&self) {
        self.over.cancel();
    }

    /// Whether this process knows of any.
    pub(super) fn any(&self) -> bool {
        !self.lock().known.is_empty()
    }

    /// What was written down about a job that this process started.
    pub(super) fn started(&self, id: &str) -> Option<Record> {
        self.lock().known.get(id).map(|known| known.record.clone())
    }

    /// Adds what only this process knows yet.
    pub(super) fn complete(&self, found: &mut Found) {
        if let Some(known) = self.lock().known.get(&found.record.id) {
            found.told.hit |= known.watch.hit;
        }
    }

    /// Ends when there is something to take.
    pub(super) fn some(&self) -> BoxFuture<'_, ()> {
        Box::pin(futures::future::poll_fn(move |cx| {
            let mut state = self.lock();
            if !state.waiting.is_empty() {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        }))
    }

    /// Remembers a job; `false` when it is known already.
    pub(super) fn know(&self, found: &Found) -> bool {
        let mut state = self.lock();
        if state.known.contains_key(&found.record.id) {
            return false;
        }
        if state.known.len() >= MAX_KNOWN {
            let old = state.known.iter().find(|(_, known)| !known.open).map(|(id, _)| id.clone());
            old.map(|id| state.known.remove(&id));
        }
        let known = Known {
            watch: Watch::new(&found.record.watch),
            heard: found.told,
            open: found.record.is_to_be_told() && !found.told.end,
            record: found.record.clone(),
        };
        state.known.insert(found.record.id.clone(), known);
        true
    }

    /// The jobs there is more to hear of.
    pub(super) fn open(&self) -> Vec<String> {
        let state = self.lock();
        state.known.iter().filter(|(_, known)| known.open).map(|(id, _)| id.clone()).collect()
    }

    /// Whether there is nothing more to hear; then nobody follows any more.
    pub(super) fn is_done(&self) -> bool {
        let mut state = self.lock();
        let done = !state.has_more_to_hear();
        if done {
            state.following = false;
        }
        done
    }

    /// A job has written something.
    pub(super) fn seen(&self, id: &str, at: u64, text: &[u8], now: Duration) {
        let mut state = self.lock();
        let Some(known) = state.known.get_mut(id) else { return };
        known.heard.bytes = at;
        let happening = known.watch.take(text, now);
        known.heard.hit |= known.watch.hit;
        if let Some(happening) = happening {
            state.add(id, happening, now);
        }
    }

    /// A job is over.
    pub(super) fn ended(&self, id: &str, end: JobState, output: &[u8], now: Duration) {
        let mut state = self.lock();
        let Some(known) = state.known.get_mut(id).filter(|known| known.open) else { return };
        known.open = false;
        let last = known.watch.finish();
        known.heard.hit |= known.watch.hit;
        let notify = known.record.notify;
        known.heard.end = true;
        if let Some(last) = last {
            state.add(id, last, now);
        }
        if notify {
            let output = String::from_utf8_lossy(output).into_owned();
            state.add(id, Happening::Ended { state: end, output }, now);
        }
    }
}

impl State {
    pub(super) fn has_more_to_hear(&self) -> bool {
        self.known.values().any(|known| known.open)
    }

    fn add(&mut self, id: &str, what: Happening, now: Duration) {
        let Some(known) = self.known.get(id) else { return };
        if matches!(what, Happening::Seen { .. }) && !self.burst.may_tell(now) {
            return;
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        let Record { id, session, command, .. } = known.record.clone();
        let notice = Notice { session, job: id, command, what };
        self.waiting.push_back(Waiting { notice, told: known.heard });
        self.wakers.drain(..).for_each(Waker::wake);
    }
}
