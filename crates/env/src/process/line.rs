//! A private line to a process: a pair of sockets, of which the process inherits one end.
//!
//! There is no path and no port, so nobody else can find it, and a fence that refuses sockets lets an
//! open one be used. A message is one line of bytes. One blocking thread waits for both directions at
//! once; it reads no further while as many messages as may are unanswered, or while the process does
//! not take its answers, so that nothing here grows without end.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Line, MOST_UNANSWERED};
use hermes_core::host::Host;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// The number the process finds its end under.
pub(crate) const NUMBER: i32 = 3;

/// Longest message; a process that writes a longer one is not listened to any more.
const MAX_MESSAGE: usize = 8 * 1024 * 1024;

/// Bytes of answers that may wait for the process before it is read again.
const MAX_WAITING: usize = 1024 * 1024;

const CHUNK: usize = 64 * 1024;

/// Both ends, ours first.
pub(crate) fn pair() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Our end of a line.
pub(crate) struct Wire {
    shared: Arc<Shared>,
    heard: futures::lock::Mutex<mpsc::UnboundedReceiver<Vec<u8>>>,
}

struct Shared {
    state: Mutex<State>,
    nudge: OwnedFd,
}

#[derive(Default)]
struct State {
    /// What the process is still to read.
    waiting: VecDeque<u8>,
    unanswered: usize,
    closed: bool,
}

impl Wire {
    /// Listens on our end, which must not block.
    pub(crate) fn new(end: OwnedFd, host: &Arc<dyn Host>) -> Result<Self, EnvError> {
        let nudge = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|why| EnvError::Start { what: "the line".to_owned(), why: why.to_string() })?;
        let shared = Arc::new(Shared { state: Mutex::default(), nudge });
        let (tell, heard) = mpsc::unbounded();
        let carrier = Carrier { end, shared: Arc::clone(&shared), tell, read: Vec::new() };
        host.run_blocking(Box::new(move || carrier.carry()));
        Ok(Self { shared, heard: futures::lock::Mutex::new(heard) })
    }
}

impl Line for Wire {
    fn next(&self) -> BoxFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move { self.heard.lock().await.next().await })
    }

    fn answer(&self, message: Vec<u8>) {
        let mut state = self.shared.lock();
        state.unanswered = state.unanswered.saturating_sub(1);
        state.waiting.extend(message);
        state.waiting.push_back(b'\n');
        drop(state);
        self.shared.wake();
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // A full counter wakes just as well.
        let _ = rustix::io::write(&self.nudge, &1_u64.to_ne_bytes());
    }
}

/// What the thread holds.
struct Carrier {
    end: OwnedFd,
    shared: Arc<Shared>,
    tell: mpsc::UnboundedSender<Vec<u8>>,
    /// What was read and not told yet.
    read: Vec<u8>,
}

impl Carrier {
    /// Runs until the line is dropped, the process has closed it, or has written what is no message.
    fn carry(mut self) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let Some(room) = self.tell_messages() else { return };
            let (waiting, closed) = {
                let state = self.shared.lock();
                (state.waiting.len(), state.closed)
            };
            if closed {
                return;
            }
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, room && waiting < MAX_WAITING);
            wanted.set(PollFlags::OUT, waiting > 0);
            let Some(seen) = self.wait(wanted) else { return };
            if seen.contains(PollFlags::OUT) && !self.write() {
                return;
            }
            let ended = seen.intersects(PollFlags::HUP | PollFlags::ERR);
            if (seen.contains(PollFlags::IN) || ended) && !self.listen(&mut chunk, ended) {
                return;
            }
        }
    }

    fn wait(&self, wanted: PollFlags) -> Option<PollFlags> {
        let nudge = PollFd::new(&self.shared.nudge, PollFlags::IN);
        let mut fds = [nudge, PollFd::from_borrowed_fd(self.end.as_fd(), wanted)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        let _ = rustix::io::read(&self.shared.nudge, &mut [0_u8; 8]);
        fds.last().map(PollFd::revents)
    }

    /// Reads what is there; `false` at the end of the line.
    fn listen(&mut self, chunk: &mut [u8], ended: bool) -> bool {
        match rustix::io::read(&self.end, &mut *chunk) {
            Ok(0) => {
                // The last words count, if somebody can still hear them.
                let _ = self.tell_messages();
                false
            }
            Ok(count) => {
                self.read.extend_from_slice(chunk.get(..count).unwrap_or_default());
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => !ended,
            Err(_) => false,
        }
    }

    /// Hands on whole messages, as many as may be unanswered; `false` when that is all for now,
    /// nothing when what comes is no message.
    fn tell_messages(&mut self) -> Option<bool> {
        let mut room = self.shared.lock().unanswered < MOST_UNANSWERED;
        let mut told = 0;
        while room {
            let rest = self.read.get(told..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'\n', rest) else {
                if rest.len() > MAX_MESSAGE {
                    return None;
                }
                break;
            };
            let message = rest.get(..length).unwrap_or_default();
            told += length + 1;
            if message.is_empty() {
                continue;
            }
            let mut state = self.shared.lock();
            state.unanswered += 1;
            room = state.unanswered < MOST_UNANSWERED;
            drop(state);
            self.tell.unbounded_send(message.to_vec()).ok()?;
        }
        self.read.drain(..told);
        Some(room)
    }

    fn write(&self) -> bool {
        let mut state = self.shared.lock();
        while !state.waiting.is_empty() {
            // A process that is gone must not end us with a signal.
            let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
            match rustix::net::send(&self.end, state.waiting.as_slices().0, flags) {
                Ok(taken) => drop(state.waiting.drain(..taken)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
        true
    }
}
