//! Collects what sessions want to be told about their jobs.
//!
//! One thread listens to all keepers at once. It runs while there is a job to listen to.
//! What is heard counts as told only when somebody takes it: the job's folder says how far that has
//! come, and what an owner heard but did not live to take is told by the next one.

#![expect(clippy::disallowed_methods, reason = "one thread listens to the keepers of jobs")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::host::Host;
use hermes_core::jobs::{Happening, Notice};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;

use crate::jobs::launch::{Numbered, Told};
use crate::jobs::{Found, read, tell, told, wire};

/// Most notices waiting to be taken; the oldest go.
pub(crate) const MAX_WAITING: usize = 256;

/// More than so many lines seen in this time, and none are told for a while.
const BURST: usize = 15;
const BURST_TIME: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// How much of a finished job's output is told.
pub(crate) const LAST_OUTPUT: usize = 2000;

/// What was collected.
#[derive(Clone)]
pub(crate) struct Notices {
    inner: Arc<Inner>,
    _owner: Arc<Owner>,
}

/// Ends the listening when nobody can take what is heard any more.
struct Owner(Arc<Inner>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.wake_thread();
    }
}

struct Inner {
    state: Mutex<State>,
    nudge: Option<OwnedFd>,
    host: Arc<dyn Host>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Jobs that are listened to, or were to their end.
    known: BTreeSet<PathBuf>,
    wakers: Vec<Waker>,
    /// Jobs to listen to that the thread has not taken up yet.
    new: Vec<Listening>,
    listening: bool,
    closed: bool,
    burst: Burst,
}

/// Holds back what would be told too often.
#[derive(Default)]
pub(crate) struct Burst {
    recent: VecDeque<Duration>,
    silent_until: Option<Duration>,
}

struct Listening {
    stream: BufReader<UnixStream>,
    job: About,
}

/// Something to be taken, and what then is told of the job in this folder.
struct Waiting {
    notice: Notice,
    folder: PathBuf,
    told: Told,
}

/// What is said about a job when something is told.
struct About {
    folder: PathBuf,
    session: String,
    job: String,
    command: String,
    notify: bool,
    /// How much was told to others, and heard by us.
    heard: Told,
}

impl Notices {
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        let nudge = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        let inner = Arc::new(Inner { state: Mutex::default(), nudge, host });
        Self { _owner: Arc::new(Owner(Arc::clone(&inner))), inner }
    }

    /// Listens to a job from now on; what it said before somebody listened is told as well.
    pub(crate) fn listen(&self, found: &Found) {
        let record = &found.record;
        if !record.notify && record.watch.is_empty() {
            return;
        }
        let job = About {
            folder: found.folder.clone(),
            session: record.session.clone(),
            job: record.id.clone(),
            command: record.command.clone(),
            notify: record.notify,
            heard: told(&found.folder),
        };
        if !self.inner.lock().known.insert(found.folder.clone()) {
            return;
        }
        match wire::listen(&found.folder) {
            Ok(stream) if !found.state().is_over() => self.follow(BufReader::new(stream), job),
            // It was quicker than we were, or ended while nobody was there to hear of it.
            _ => self.inner.ended(job),
        }
    }

    fn follow(&self, stream: BufReader<UnixStream>, job: About) {
        let mut state = self.inner.lock();
        state.new.push(Listening { stream, job });
        if !std::mem::replace(&mut state.listening, true) {
            let inner = Arc::clone(&self.inner);
            std::thread::spawn(move || inner.run());
        }
        drop(state);
        self.inner.wake_thread();
    }

    /// What was collected since this was last asked.
    pub(crate) fn take(&self) -> Vec<Notice> {
        let taken: Vec<Waiting> = self.inner.lock().waiting.drain(..).collect();
        let mut last = BTreeMap::new();
        for waiting in &taken {
            last.insert(waiting.folder.as_path(), waiting.told);
        }
        for (folder, now_told) in last {
            tell(folder, now_told);
        }
        taken.into_iter().map(|waiting| waiting.notice).collect()
    }

    /// Ends when there is something to take.
    pub(crate) fn some(&self) -> BoxFuture<'_, ()> {
        Box::pin(futures::future::poll_fn(move |cx| {
            let mut state = self.inner.lock();
            if !state.waiting.is_empty() {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        }))
    }
}

impl Inner {
    fn run(&self) {
        let mut jobs: Vec<Listening> = Vec::new();
        loop {
            {
                let mut state = self.lock();
                jobs.append(&mut state.new);
                if jobs.is_empty() || state.closed {
                    state.listening = false;
                    return;
                }
            }
            let mut fds: Vec<PollFd<'_>> =
                self.nudge.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
            let before = fds.len();
            fds.extend(
                jobs.iter().map(|job| PollFd::from_borrowed_fd(job.stream.get_ref().as_fd(), PollFlags::IN)),
            );
            let _ = poll(&mut fds, None);
            let ready: Vec<bool> = fds.iter().skip(before).map(|fd| !fd.revents().is_empty()).collect();
            if let Some(nudge) = &self.nudge {
                let _ = rustix::io::read(nudge, &mut [0_u8; 8]);
            }
            let mut ready = ready.into_iter();
            for mut job in std::mem::take(&mut jobs) {
                let goes_on = !ready.next().unwrap_or_default() || self.hear(&mut job);
                if goes_on {
                    jobs.push(job);
                } else {
                    self.ended(job.job);
                }
            }
        }
    }

    /// Takes what a keeper said; `false` when it has hung up.
    fn hear(&self, listening: &mut Listening) -> bool {
        loop {
            let mut line = String::new();
            match listening.stream.read_line(&mut line) {
                Ok(0) | Err(_) => return false,
                Ok(_) => {
                    if let Ok(happening) = serde_json::from_str(&line) {
                        self.seen(&mut listening.job, happening);
                    }
                }
            }
            if listening.stream.buffer().is_empty() {
                return true;
            }
        }
    }

    /// The job is over: what is left to tell is told, once.
    fn ended(&self, mut job: About) {
        let Some(found) = read(&job.folder) else { return };
        let Some(seen) = found.seen() else { return };
        for happening in seen {
            self.seen(&mut job, happening.clone());
        }
        if job.notify && !std::mem::replace(&mut job.heard.end, true) {
            let output = found.tail(LAST_OUTPUT);
            let output = String::from_utf8_lossy(&output).into_owned();
            self.add(&job, Happening::Ended { state: found.state(), output });
        }
    }

    /// A keeper says everything it remembers to everybody: only what is new is told.
    fn seen(&self, job: &mut About, happening: Numbered) {
        if happening.number > job.heard.number {
            job.heard.number = happening.number;
            self.add(job, happening.what);
        }
    }

    fn add(&self, job: &About, what: Happening) {
        let now = self.host.now();
        let mut state = self.lock();
        if matches!(what, Happening::Seen { .. }) && !state.burst.may_tell(now) {
            return;
        }
        if state.waiting.len() >= MAX_WAITING {
            state.waiting.pop_front();
        }
        let notice =
            Notice { session: job.session.clone(), job: job.job.clone(), command: job.command.clone(), what };
        state.waiting.push_back(Waiting { notice, folder: job.folder.clone(), told: job.heard });
        for waker in state.wakers.drain(..) {
            waker.wake();
        }
    }

    fn wake_thread(&self) {
        if let Some(nudge) = &self.nudge {
            let _ = rustix::io::write(nudge, &1_u64.to_ne_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Burst {
    /// Whether one more line may be told now.
    pub(crate) fn may_tell(&mut self, now: Duration) -> bool {
        if self.silent_until.is_some_and(|until| now < until) {
            return false;
        }
        self.recent.retain(|at| *at + BURST_TIME > now);
        self.recent.push_back(now);
        if self.recent.len() > BURST {
            self.silent_until = Some(now + SILENCE);
            self.recent.clear();
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_silence() {
        let mut burst = Burst::default();
        let at = Duration::from_secs;

        let told = (0..20).filter(|_| burst.may_tell(at(100))).count();

        assert_eq!(told, BURST);
        assert!(!burst.may_tell(at(129)));
        assert!(burst.may_tell(at(131)));
    }
}
