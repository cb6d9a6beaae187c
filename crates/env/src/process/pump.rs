//! Carries bytes between a process and us, and sees it end.
//!
//! One blocking thread per running process waits for all of it at once: output, room for input,
//! the end, and a nudge from our side. Nothing is polled. A process whose owner is gone is
//! stopped here, with everything it started.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use hermes_core::environment::{End, EnvError, Input, Output, Size, Stream};
use hermes_core::host::Host;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, waitid};

use crate::process::spawn::{self, Child};
use crate::process::tether::Tether;
use crate::process::tree::{self, Root};

/// How long output is listened for after the end, when a child still holds it open.
const LINGER: Duration = Duration::from_millis(250);

/// What an abandoned process gets to stop by itself.
const ABANDONED: Duration = Duration::from_millis(80);

/// Most bytes waiting to be read by a process.
const MAX_PENDING: usize = 4 * 1024 * 1024;

const CHUNK: usize = 64 * 1024;

/// Our side of a process, shared between the pump and its owner.
pub(crate) struct Link {
    state: Mutex<State>,
    nudge: OwnedFd,
}

struct State {
    root: Root,
    /// What it is still to read.
    pending: VecDeque<u8>,
    /// No more is coming after that.
    closing: bool,
    /// Whether its input is there at all.
    writable: bool,
    resize: Option<Size>,
    abandoned: bool,
}

impl Link {
    pub(crate) fn new(child: &Child, input: &Input, mark: String) -> Result<Arc<Self>, EnvError> {
        let nudge = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|why| EnvError::Start { what: "the process".to_owned(), why: why.to_string() })?;
        let (pending, closing) = match input {
            Input::Empty => (VecDeque::new(), !child.terminal),
            Input::Bytes(bytes) => (bytes.iter().copied().collect(), true),
            Input::Open => (VecDeque::new(), false),
        };
        let state = State {
            root: Root { pid: Some(child.pid), mark, tether: Tether::default() },
            pending,
            closing,
            writable: child.input.is_some(),
            resize: None,
            abandoned: false,
        };
        Ok(Arc::new(Self { state: Mutex::new(state), nudge }))
    }

    /// What to look for when the process is to be stopped.
    pub(crate) fn root(&self) -> Root {
        self.lock().root.clone()
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), EnvError> {
        let mut state = self.lock();
        if !state.writable || state.closing {
            return Err(EnvError::Input("its input is closed".to_owned()));
        }
        if state.pending.len() + bytes.len() > MAX_PENDING {
            return Err(EnvError::Input("it does not read what was written before".to_owned()));
        }
        state.pending.extend(bytes);
        drop(state);
        self.wake();
        Ok(())
    }

    pub(crate) fn close_input(&self) {
        self.lock().closing = true;
        self.wake();
    }

    pub(crate) fn resize(&self, size: Size) {
        self.lock().resize = Some(size);
        self.wake();
    }

    /// Nobody wants it any more.
    pub(crate) fn abandon(&self) {
        self.lock().abandoned = true;
        self.wake();
    }

    fn wake(&self) {
        // A full counter wakes just as well.
        let _ = rustix::io::write(&self.nudge, &1_u64.to_ne_bytes());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything the pump holds while the process runs.
pub(crate) struct Pump {
    pub(crate) child: Child,
    pub(crate) link: Arc<Link>,
    pub(crate) output: Arc<dyn Output>,
    pub(crate) host: Arc<dyn Host>,
}

/// What is still listened to.
#[derive(Clone, Copy)]
struct Open {
    running: bool,
    out: bool,
    err: bool,
}

impl Pump {
    /// Runs until the process has ended and its output was delivered.
    pub(crate) fn run(mut self, done: oneshot::Sender<Result<End, EnvError>>) {
        let end = self.carry();
        // The number may be given to somebody else as soon as the process is buried.
        self.link.lock().root.pid = None;
        let buried = waitid(WaitId::PidFd(self.child.pidfd.as_fd()), WaitIdOptions::EXITED);
        let end = end.map_or_else(|| how(buried.ok().flatten().as_ref()), Ok);
        // Nobody listens any more when the owner is gone.
        let _ = done.send(end);
    }

    fn carry(&mut self) -> Option<End> {
        let mut chunk = vec![0; CHUNK];
        let mut open = Open { running: true, out: true, err: self.child.err.is_some() };
        let mut end = None;
        let mut until = None;
        loop {
            let [nudge, ended, out, err, input] = self.wait(open, until)?;
            if nudge && self.nudged() {
                return end;
            }
            if input {
                self.feed();
            }
            if out {
                open.out = self.drain(Stream::Out, &mut chunk);
            }
            if err {
                open.err = self.drain(Stream::Err, &mut chunk);
            }
            if ended {
                // Looked at, not buried: while it lies there its number is not given away.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                let seen = waitid(WaitId::PidFd(self.child.pidfd.as_fd()), options);
                end = how(seen.ok().flatten().as_ref()).ok();
                until = Some(self.host.now() + LINGER);
                open.running = false;
            }
            let over = until.is_some_and(|until| self.host.now() >= until);
            if !open.running && (over || !(open.out || open.err)) {
                return end;
            }
        }
    }

    /// Waits until there is something to do: a nudge, the end, output, errors, room for input.
    /// Nothing comes back when waiting itself fails.
    fn wait(&self, open: Open, until: Option<Duration>) -> Option<[bool; 5]> {
        let child = &self.child;
        let limit = until.and_then(|until| Timespec::try_from(until.saturating_sub(self.host.now())).ok());
        let input = self.input_is_due();
        let wanted = [
            (Some(&self.link.nudge), PollFlags::IN),
            (Some(&child.pidfd).filter(|_| open.running), PollFlags::IN),
            (Some(&child.out).filter(|_| open.out), PollFlags::IN),
            (child.err.as_ref().filter(|_| open.err), PollFlags::IN),
            (child.input.as_ref().filter(|_| input), PollFlags::OUT),
        ];
        let mut fds: Vec<PollFd<'_>> = wanted
            .iter()
            .filter_map(|(fd, flags)| Some(PollFd::from_borrowed_fd((*fd)?.as_fd(), *flags)))
            .collect();
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
        let mut seen = fds.iter().map(|fd| !fd.revents().is_empty());
        Some(wanted.map(|(fd, _)| fd.is_some() && seen.next().unwrap_or_default()))
    }

    /// Looks what the owner wants; `true` when it is to be over.
    fn nudged(&mut self) -> bool {
        let _ = rustix::io::read(&self.link.nudge, &mut [0_u8; 8]);
        let mut state = self.link.lock();
        let size = state.resize.take();
        let abandoned = state.abandoned;
        let root = abandoned.then(|| state.root.clone());
        drop(state);
        if let Some(size) = size.filter(|_| self.child.terminal) {
            let _ = spawn::resize(&self.child.out, size);
        }
        if let Some(root) = root {
            tree::stop(&root, ABANDONED, &self.host);
        }
        abandoned
    }

    /// Whether there is input to hand over, or to end.
    fn input_is_due(&self) -> bool {
        let state = self.link.lock();
        self.child.input.is_some() && (!state.pending.is_empty() || state.closing)
    }

    fn feed(&mut self) {
        let mut state = self.link.lock();
        let Some(input) = &self.child.input else { return };
        while !state.pending.is_empty() {
            match rustix::io::write(input, state.pending.as_slices().0) {
                Ok(taken) => drop(state.pending.drain(..taken)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // It does not want to read any more.
                Err(_) => {
                    state.pending.clear();
                    state.closing = true;
                }
            }
        }
        if state.closing {
            if self.child.terminal {
                // A terminal stays open; this is how its user says that there is no more.
                let _ = rustix::io::write(input, b"\x04");
            }
            state.writable = false;
            drop(state);
            self.child.input = None;
        }
    }

    /// Reads what is there, up to a fair share; `false` at the end.
    fn drain(&mut self, from: Stream, chunk: &mut [u8]) -> bool {
        let fd = match from {
            Stream::Out => &self.child.out,
            Stream::Err => match &self.child.err {
                Some(err) => err,
                None => return false,
            },
        };
        for _ in 0..16 {
            match rustix::io::read(fd, &mut *chunk) {
                Ok(0) => return false,
                Ok(count) => self.output.take(from, chunk.get(..count).unwrap_or_default()),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return true,
                // A terminal whose other side is closed.
                Err(_) => return false,
            }
        }
        true
    }
}

pub(crate) fn how(status: Option<&WaitIdStatus>) -> Result<End, EnvError> {
    let ended = status.and_then(|status| {
        let code = status.exit_status().map(End::Code);
        code.or_else(|| status.terminating_signal().map(End::Signal))
    });
    let lost = || EnvError::Start { what: "the process".to_owned(), why: "its end was not seen".to_owned() };
    ended.ok_or_else(lost)
}
