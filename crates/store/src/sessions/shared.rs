//! The store for async code: work is queued and done on a thread of the host.
//!
//! Two lanes, each with its own connection: one for changes, one for looking, so that a long search
//! never holds up the journal. A lane has a thread only while it has work. Changes that are waiting
//! together are committed together: with many calls at once, one wait for the disk serves them all.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::oneshot;
use hermes_core::host::Host;

use super::clock::Clock;
use super::db::{Durability, Sessions, sync_log};
use super::error::SessionError;

/// Most changes committed together.
const MAX_GROUP: usize = 64;

/// A store of sessions that many tasks share. Clones are the same store. Nothing is opened, and no
/// file is made, before it is first used.
#[derive(Clone)]
pub struct SessionStore {
    changes: Arc<Lane>,
    looks: Arc<Lane>,
}

/// Work on the store, and how its end is told once it is known whether it was committed.
type Job = Box<dyn FnOnce(Result<&Sessions, SessionError>) -> Tell + Send>;
type Tell = Box<dyn FnOnce(Option<String>) + Send>;

struct Lane {
    place: Place,
    host: Arc<dyn Host>,
    grouped: bool,
    state: Mutex<State>,
}

struct Place {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    durability: Durability,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    busy: bool,
    store: Option<Sessions>,
}

impl SessionStore {
    /// The store at a path, used through the threads of `host`.
    pub fn new(path: &Path, host: &Arc<dyn Host>, clock: &Arc<dyn Clock>, durability: Durability) -> Self {
        let lane = |grouped| {
            Arc::new(Lane {
                place: Place { path: path.to_owned(), clock: Arc::clone(clock), durability },
                host: Arc::clone(host),
                grouped,
                state: Mutex::default(),
            })
        };
        Self { changes: lane(true), looks: lane(false) }
    }

    /// Changes the store. The work is committed when this returns.
    pub async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        self.changes.run(work).await
    }

    /// Looks at the store.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        self.looks.run(work).await
    }

    /// Makes everything committed so far survive a power cut. Meant for the end of a turn; no
    /// connection is opened for it.
    pub async fn sync(&self) -> Result<(), SessionError> {
        let path = self.changes.place.path.clone();
        let (answer, wait) = oneshot::channel();
        // Nobody listens any more when the caller was cancelled.
        self.changes.host.run_blocking(Box::new(move || drop(answer.send(sync_log(&path)))));
        wait.await.unwrap_or(Err(SessionError::Lost))
    }
}

impl Lane {
    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Sessions) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let (answer, wait) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            let done = store.and_then(work);
            Box::new(move |uncommitted: Option<String>| {
                let end = match uncommitted {
                    Some(why) if done.is_ok() => Err(SessionError::Commit(why)),
                    _ => done,
                };
                // Nobody listens any more when the caller was cancelled.
                let _ = answer.send(end);
            })
        });
        self.push(job);
        wait.await.unwrap_or(Err(SessionError::Lost))
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut state = self.state();
        state.waiting.push_back(job);
        if !state.busy {
            state.busy = true;
            drop(state);
            let turn = Turn { lane: Arc::clone(self), over: false };
            self.host.run_blocking(Box::new(move || turn.work()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to work in a lane. Dropped without having worked, because the host has no threads or
/// the work panicked, it gives the lane free again and lets those who wait know.
struct Turn {
    lane: Arc<Lane>,
    over: bool,
}

impl Turn {
    /// Does all that waits, and all that comes while it does so.
    fn work(mut self) {
        let mut store = self.lane.state().store.take();
        loop {
            let group: Vec<Job> = {
                let mut state = self.lane.state();
                if state.waiting.is_empty() {
                    state.store = store;
                    state.busy = false;
                    self.over = true;
                    return;
                }
                let most = if self.lane.grouped { MAX_GROUP } else { 1 };
                let count = state.waiting.len().min(most);
                state.waiting.drain(..count).collect()
            };
            store = self.done(store, group);
        }
    }

    /// Does a group of work, and gives the store back if it is still good.
    fn done(&self, store: Option<Sessions>, group: Vec<Job>) -> Option<Sessions> {
        let Place { path, clock, durability } = &self.lane.place;
        let opened = match store {
            Some(store) => Ok(store),
            None => Sessions::open(path, Arc::clone(clock), *durability),
        };
        let store = match opened {
            Ok(store) => store,
            Err(why) => {
                let why = why.to_string();
                for job in group {
                    job(Err(SessionError::Open { why: why.clone() }))(None);
                }
                return None;
            }
        };
        // Work that panics takes its connection, and with it its transaction, down with it.
        let done = catch_unwind(AssertUnwindSafe(|| together(&store, group)));
        done.is_ok().then_some(store)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.over {
            let mut state = self.lane.state();
            state.busy = false;
            // Dropping the work tells whoever waits that it will not be done.
            state.waiting.clear();
        }
    }
}

/// Does one piece of work alone, several in one transaction.
fn together(store: &Sessions, group: Vec<Job>) {
    if group.len() < 2 {
        for job in group {
            job(Ok(store))(None);
        }
        return;
    }
    if let Err(why) = store.begin() {
        let why = why.to_string();
        for job in group {
            job(Err(SessionError::Commit(why.clone())))(None);
        }
        return;
    }
    let tells: Vec<Tell> = group.into_iter().map(|job| job(Ok(store))).collect();
    let uncommitted = store.commit().err().map(|why| why.to_string());
    for tell in tells {
        tell(uncommitted.clone());
    }
}
