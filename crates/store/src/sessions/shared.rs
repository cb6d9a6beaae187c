//! The store for async code: work is queued and done on a thread of the host, or at once.
//!
//! Two lanes, each with its own connection: one for changes, one for looking, so that a long search
//! never holds up the journal. A lane has a thread only while it has work. Changes that are waiting
//! together are committed together: with many calls at once, one wait for the disk serves them all.
//!
//! A change is a few pages copied to the operating system, which takes less time than waking a thread
//! and being woken by it. So one that finds its lane idle and the file free is made right where it was
//! asked for. What may take long is left to threads: opening the file, waiting for other processes,
//! and folding the log into the file, for which every so often a change goes to a thread. Where changes
//! turn out to be slow, as on a disk far away, all of them do.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use hermes_core::host::Host;

use super::call_log::CallLog;
use super::calls::Word;
use super::clock::Clock;
use super::db::{Durability, Sessions, sync_log};
use super::error::SessionError;
use super::floor::{self, Floor};
use super::moment::Moment;
use crate::disk;

/// Most changes committed together.
const MAX_GROUP: usize = 64;

/// Most changes made at once, between two that are made on a thread.
const MAX_AT_ONCE: u32 = 64;

/// A change that takes longer should not have been made where somebody else may be kept waiting.
const SLOW: Duration = Duration::from_millis(20);

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
    call_log: Arc<CallLog>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    busy: bool,
    store: Option<Sessions>,
    /// How many changes may still be made at once.
    at_once: u32,
    /// Whether changes turned out to be slow.
    slow: bool,
}

impl SessionStore {
    /// The store at a path, used through the threads of `host`.
    pub fn new(path: &Path, host: &Arc<dyn Host>, clock: &Arc<dyn Clock>, durability: Durability) -> Self {
        let call_log = Arc::new(CallLog::new(path));
        let lane = |grouped| {
            let (path, clock, call_log) = (path.to_owned(), Arc::clone(clock), Arc::clone(&call_log));
            Arc::new(Lane {
                place: Place { path, clock, durability, call_log },
                host: Arc::clone(host),
                grouped,
                state: Mutex::default(),
            })
        };
        Self { changes: lane(true), looks: lane(false) }
    }

    /// Changes the store. All that the work does is one transaction, committed when this returns.
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

    /// Writes a word about a call down, if that can be done here and now; durable when this returns `true`.
    pub(super) fn write_at_once(&self, word: &Word<'_>) -> Result<bool, SessionError> {
        let Place { durability, call_log, .. } = &self.changes.place;
        if *durability != Durability::Kill {
            return Ok(false);
        }
        let Some(much) = call_log.add(word)? else { return Ok(false) };
        if much {
            self.changes.later();
        }
        Ok(true)
    }

    /// Writes a word about a call down with other changes: where that is not done at once, and the first word, which
    /// finds out whether there can be a store at all. Durable when this returns.
    pub(super) async fn write_in_turn(&self, word: Word<'_>) -> Result<(), SessionError> {
        let word = word.into_owned();
        self.change(move |store| store.write_down(&word)).await
    }

    /// Now, in microseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        Moment::from(self.changes.place.clock.now()).micros()
    }

    /// The floor of a session, unless somebody else has it. No connection is opened for it.
    pub fn floor(&self, id: &str) -> Result<Option<Floor>, SessionError> {
        floor::take(&self.changes.place.path, id)
    }

    /// Opens the file on a thread if there is one, so that whoever writes next finds it open. Makes none.
    pub fn open_ahead(&self) {
        if disk::stamp(&self.changes.place.path).is_some() {
            self.changes.later();
        }
    }

    /// Makes everything written so far survive a power cut. Meant for the end of a turn; no connection
    /// is opened for it.
    pub async fn sync(&self) -> Result<(), SessionError> {
        if self.changes.place.call_log.is_waiting() {
            self.change(|_| Ok(())).await?;
        }
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
        let grouped = self.grouped;
        let job: Job = Box::new(move |store| {
            // A change that fails takes back all it did, and nothing of what its neighbours did.
            let done =
                store.and_then(|store| if grouped { store.write(|_| work(store)) } else { work(store) });
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
        if state.busy {
            state.waiting.push_back(job);
            return;
        }
        state.busy = true;
        let turn = Turn { lane: Arc::clone(self), over: false };
        // A commit that waits for the disk is for a thread.
        let quick = self.grouped && self.place.durability == Durability::Kill && !state.slow;
        if quick
            && state.at_once > 0
            && let Some(store) = state.store.take()
        {
            state.at_once -= 1;
            drop(state);
            turn.work_at_once(store, job);
        } else {
            state.waiting.push_back(job);
            drop(state);
            turn.on_a_thread();
        }
    }

    /// Has a transaction on a thread sometime soon, for the words that wait for one, or to have the file open;
    /// and again if it took so long that many more words came.
    fn later(self: &Arc<Self>) {
        let lane = Arc::clone(self);
        let nothing: Job = Box::new(move |store| {
            let begun = store.is_ok();
            Box::new(move |uncommitted| {
                if begun && uncommitted.is_none() && lane.place.call_log.is_long() {
                    lane.later();
                }
            })
        });
        let mut state = self.state();
        state.waiting.push_back(nothing);
        if !std::mem::replace(&mut state.busy, true) {
            drop(state);
            Turn { lane: Arc::clone(self), over: false }.on_a_thread();
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
    fn on_a_thread(self) {
        let host = Arc::clone(&self.lane.host);
        host.run_blocking(Box::new(move || self.work()));
    }

    /// Does one piece of work here and now, if no other process has the file.
    fn work_at_once(mut self, store: Sessions, job: Job) {
        let began = self.lane.host.now();
        let mut left = Some(job);
        // Without its transaction the work would wait for the file.
        let free = store.let_fold(false).and_then(|()| store.begin_at_once()).is_ok();
        let sound = catch_unwind(AssertUnwindSafe(|| {
            if let Some(job) = left.take_if(|_| free) {
                in_one(&store, vec![job]);
            }
        }));
        let took = self.lane.host.now().saturating_sub(began);
        let mut state = self.lane.state();
        state.store = sound.is_ok().then_some(store);
        state.slow |= took > SLOW;
        if let Some(job) = left {
            state.waiting.push_front(job);
        }
        if state.waiting.is_empty() {
            state.busy = false;
            drop(state);
            self.over = true;
        } else {
            drop(state);
            self.on_a_thread();
        }
    }

    /// Does all that waits, and all that comes while it does so.
    fn work(mut self) {
        let mut store = {
            let mut state = self.lane.state();
            state.at_once = MAX_AT_ONCE;
            state.store.take()
        };
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
        let Place { path, clock, durability, call_log } = &self.lane.place;
        let opened = match store {
            Some(store) => Ok(store),
            None => Sessions::open_beside(path, Arc::clone(clock), *durability, Arc::clone(call_log)),
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
        // Where that cannot be said, the log grows; nothing is lost.
        let _ = store.let_fold(true);
        // Work that panics takes its connection, and with it its transaction, down with it.
        let done = catch_unwind(AssertUnwindSafe(|| {
            if self.lane.grouped { together(&store, group) } else { apart(&store, group) }
        }));
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

/// Does pieces of work one by one.
fn apart(store: &Sessions, group: Vec<Job>) {
    for job in group {
        job(Ok(store))(None);
    }
}

/// Does all work in one transaction.
fn together(store: &Sessions, group: Vec<Job>) {
    if let Err(why) = store.begin() {
        let why = why.to_string();
        for job in group {
            job(Err(SessionError::Commit(why.clone())))(None);
        }
        return;
    }
    in_one(store, group);
}

/// Does work in the transaction that is open, and ends that.
fn in_one(store: &Sessions, group: Vec<Job>) {
    let tells: Vec<Tell> = group.into_iter().map(|job| job(Ok(store))).collect();
    let uncommitted = store.commit().err().map(|why| why.to_string());
    for tell in tells {
        tell(uncommitted.clone());
    }
}
