//! What a program says: lines, taken in by whoever waits for them.
//!
//! That is a thread that has nothing to do but wait for the answer of a call, and otherwise the task that
//! minds the connection. Answers to calls go to their callers at once, from either; the rest is kept for
//! the task. Being woken by somebody who was woken is most of what a quick call costs, so the task does not
//! even listen while such threads come and go; when none has come for a moment, it listens again.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_core::host::Host;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tokio::net::unix::pipe;
use tokio::sync::Notify;

/// Longest message.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// What is kept of the beginning and the end of a line that is too long.
const EDGE: usize = 4096;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Reads in a row before others get their turn.
const READS: usize = 16;

/// Lines that nobody has asked for yet, and their bytes; more stay in the pipe.
const MAX_KEPT: usize = 256;
const MAX_KEPT_BYTES: usize = 2 * MAX_MESSAGE;

/// The moment after which the task listens again; it looks less often while a thread waits for long.
const MOMENT: Duration = Duration::from_millis(20);
const LONG_MOMENT: Duration = Duration::from_millis(500);

/// A program that answered a sleeper within this time is waited for awake the next time, but for so many
/// looks at most, which is about as long. Falling asleep and being woken takes longer than many an answer.
const QUICK: Duration = Duration::from_micros(150);
const LOOKS: usize = 128;

/// How a program has answered lately.
const SLOWLY: u8 = 0;
const QUICKLY: u8 = 1;
/// It was waited for awake, in vain.
const IN_VAIN: u8 = 2;

/// A program's output.
pub(super) struct Output {
    pipe: OwnedFd,
    host: Arc<dyn Host>,
    taken: Mutex<Taken>,
    /// How the task listens; nothing while threads do.
    ear: Mutex<Option<Arc<pipe::Receiver>>>,
    /// Tells the task that there is something for it, or that it has to listen or need not.
    told: Notify,
    /// A thread waits here.
    occupied: AtomicBool,
    /// One did since the task last looked.
    used: AtomicBool,
    /// It sleeps, and can only be woken by the bell.
    asleep: AtomicBool,
    bell: OwnedFd,
    lately: AtomicU8,
}

/// What was read.
struct Taken {
    line: Line,
    chunk: Vec<u8>,
    kept: VecDeque<Piece>,
    bytes: usize,
    ended: bool,
}

/// How far a look got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Got {
    /// All there is for now.
    All,
    /// There may be more.
    More,
    /// What was read before has to be taken first.
    Full,
    /// There will be nothing more.
    End,
}

impl Output {
    /// Over our end of the pipe, which must not block. Must be called inside the runtime.
    pub(super) fn new(output: OwnedFd, host: Arc<dyn Host>) -> io::Result<Self> {
        let taken = Taken {
            line: Line::default(),
            chunk: vec![0; CHUNK],
            kept: VecDeque::new(),
            bytes: 0,
            ended: false,
        };
        let ear = ear(&output)?;
        Ok(Self {
            pipe: output,
            host,
            taken: Mutex::new(taken),
            ear: Mutex::new(Some(ear)),
            told: Notify::new(),
            occupied: AtomicBool::new(false),
            used: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            lately: AtomicU8::new(SLOWLY),
        })
    }

    /// The next line that `took` does not take, or nothing at the end. For the task.
    pub(super) async fn next(&self, took: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> Option<Piece> {
        let mut moment = MOMENT;
        loop {
            if let Some(piece) = self.kept() {
                return Some(piece);
            }
            let ear = self.ear().clone();
            let Some(ear) = ear else {
                if self.taken().ended {
                    return self.kept();
                }
                tokio::select! {
                    () = self.host.sleep(moment) => {}
                    () = self.told.notified() => {}
                }
                let occupied = self.occupied.load(Ordering::SeqCst);
                moment = if occupied { (moment * 2).min(LONG_MOMENT) } else { MOMENT };
                self.listen_again();
                continue;
            };
            match self.look(&took, |chunk| ear.try_read(chunk)) {
                Got::Full => {}
                Got::More => tokio::task::yield_now().await,
                Got::End => return self.kept(),
                Got::All if self.kept_any() => {}
                Got::All => tokio::select! {
                    heard = ear.readable() => heard.ok()?,
                    () = self.told.notified() => {}
                },
            }
        }
    }

    /// The task listens, unless a thread does or did a moment ago.
    fn listen_again(&self) {
        let mut ear = self.ear();
        if ear.is_some() || self.occupied.load(Ordering::SeqCst) || self.used.swap(false, Ordering::SeqCst) {
            return;
        }
        // Where that cannot be, it is tried again after a moment.
        *ear = self::ear(&self.pipe).ok();
    }

    /// Somebody waits for something who cannot sleep here: the task listens from now on.
    pub(super) fn attend(&self) {
        if self.ear().is_none() {
            self.used.store(false, Ordering::SeqCst);
            self.told.notify_one();
        }
    }

    /// Takes what was said already and gives it to `took`, for a thread that is about to sleep here: a quick
    /// program answers before anybody can fall asleep, and is given a moment. Nothing happens while somebody
    /// else listens.
    pub(super) fn glance(&self, took: impl Fn(Vec<u8>) -> Option<Vec<u8>>) {
        if self.ear().is_some() || self.occupied.swap(true, Ordering::SeqCst) {
            return;
        }
        let said = Cell::new(false);
        let looks = if self.lately.load(Ordering::Relaxed) == QUICKLY { LOOKS } else { 1 };
        for _ in 0..looks {
            if looks > 1 {
                // The program may be waiting for this very processor, and has not answered before it had one.
                std::thread::yield_now();
            }
            let got = self.hear(|line| {
                said.set(true);
                took(line)
            });
            if said.get() || got != Got::All {
                break;
            }
        }
        if said.get() {
            self.used.store(true, Ordering::SeqCst);
        } else if looks > 1 {
            self.lately.store(IN_VAIN, Ordering::Relaxed);
        }
        self.occupied.store(false, Ordering::SeqCst);
    }

    /// Sleeps until something was said and given to `took`, or the bell was rung by somebody who has set
    /// `woken` before. `false` when there is no sleeping here.
    pub(super) fn sleep(&self, woken: &AtomicBool, took: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> bool {
        if self.occupied.swap(true, Ordering::SeqCst) {
            return false;
        }
        self.used.store(true, Ordering::SeqCst);
        let ear = self.ear().take();
        if ear.is_some() {
            // It has one of its own as long as it waits with it.
            self.told.notify_one();
        }
        let slept = self.slept(woken, took);
        self.occupied.store(false, Ordering::SeqCst);
        slept
    }

    fn slept(&self, woken: &AtomicBool, took: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        // Whoever wakes sets `woken` first and looks at `asleep` then: one of us sees the other.
        if woken.load(Ordering::SeqCst) {
            self.asleep.store(false, Ordering::SeqCst);
            return true;
        }
        let mut ends = [PollFd::new(&self.pipe, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        let began = self.host.now();
        let polled = poll(&mut ends, None);
        let quick = self.host.now().saturating_sub(began) < QUICK;
        self.asleep.store(false, Ordering::SeqCst);
        let [said, rung] = ends.map(|end| !end.revents().is_empty());
        if rung {
            // What was rung once too often only wakes once too often.
            let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]);
        }
        match polled {
            Err(rustix::io::Errno::INTR) => true,
            Err(_) => false,
            Ok(_) if !said => true,
            Ok(_) => {
                let in_vain = self.lately.load(Ordering::Relaxed) == IN_VAIN;
                let lately = if quick && !in_vain { QUICKLY } else { SLOWLY };
                self.lately.store(lately, Ordering::Relaxed);
                matches!(self.hear(took), Got::All | Got::More)
            }
        }
    }

    /// Takes in what is there; the task is told of what is left for it.
    fn hear(&self, took: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> Got {
        let got = self.look(took, |chunk| Ok(rustix::io::read(&self.pipe, chunk)?));
        if got == Got::End || self.kept_any() {
            self.told.notify_one();
        }
        got
    }

    /// Wakes whoever sleeps here.
    pub(super) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // A bell that is full rings.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }

    /// Takes in what is there.
    fn look(
        &self,
        took: impl Fn(Vec<u8>) -> Option<Vec<u8>>,
        read: impl Fn(&mut [u8]) -> io::Result<usize>,
    ) -> Got {
        let mut taken = self.taken();
        for _ in 0..READS {
            if taken.ended {
                return Got::End;
            }
            if taken.kept.len() >= MAX_KEPT || taken.bytes >= MAX_KEPT_BYTES {
                return Got::Full;
            }
            match read(&mut taken.chunk) {
                Ok(0) => taken.end(&took),
                Ok(count) => {
                    taken.add(count, &took);
                    // A pipe that gives less than it could is empty.
                    if count < CHUNK {
                        return Got::All;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Got::All,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => taken.end(&took),
            }
        }
        Got::More
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ear(&self) -> MutexGuard<'_, Option<Arc<pipe::Receiver>>> {
        self.ear.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_any(&self) -> bool {
        !self.taken().kept.is_empty()
    }

    fn kept(&self) -> Option<Piece> {
        let mut taken = self.taken();
        let piece = taken.kept.pop_front()?;
        taken.bytes = taken.bytes.saturating_sub(piece.len());
        Some(piece)
    }
}

/// A descriptor of its own for the task, which the runtime watches as long as it is there.
fn ear(pipe: &OwnedFd) -> io::Result<Arc<pipe::Receiver>> {
    pipe::Receiver::from_owned_fd_unchecked(pipe.try_clone()?).map(Arc::new)
}

impl Taken {
    /// Takes so many bytes of the chunk over.
    fn add(&mut self, count: usize, took: &impl Fn(Vec<u8>) -> Option<Vec<u8>>) {
        let mut parts = self.chunk.get(..count).unwrap_or_default().split(|byte| *byte == b'\n');
        let last = parts.next_back();
        for part in parts {
            self.line.push(part);
            let piece = self.line.take();
            keep(piece, took, &mut self.kept, &mut self.bytes);
        }
        self.line.push(last.unwrap_or_default());
    }

    /// Nothing more will come. A program that ends without ending its last line has said it all the same.
    fn end(&mut self, took: &impl Fn(Vec<u8>) -> Option<Vec<u8>>) {
        self.ended = true;
        if self.line.total > 0 {
            let piece = self.line.take();
            keep(piece, took, &mut self.kept, &mut self.bytes);
        }
    }
}

/// Keeps a line that `took` does not take.
fn keep(
    piece: Piece,
    took: &impl Fn(Vec<u8>) -> Option<Vec<u8>>,
    kept: &mut VecDeque<Piece>,
    bytes: &mut usize,
) {
    let piece = match piece {
        Piece::Whole(line) => took(line).map(Piece::Whole),
        cut @ Piece::Cut(..) => Some(cut),
    };
    if let Some(piece) = piece {
        *bytes += piece.len();
        kept.push_back(piece);
    }
}

/// A line as it comes in.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// How long it is in all.
    total: usize,
}

/// A line.
#[derive(Debug)]
pub(super) enum Piece {
    Whole(Vec<u8>),
    /// Too long; its edges, and its length.
    Cut(Vec<u8>, usize),
}

impl Piece {
    fn len(&self) -> usize {
        let (Self::Whole(bytes) | Self::Cut(bytes, _)) = self;
        bytes.len()
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        self.bytes.extend_from_slice(bytes);
        if self.total > MAX_MESSAGE && self.bytes.len() > 4 * EDGE {
            let tail = self.bytes.len().saturating_sub(EDGE).max(EDGE);
            self.bytes.drain(EDGE..tail);
        }
    }

    fn take(&mut self) -> Piece {
        let Self { bytes, total } = std::mem::take(self);
        if total > MAX_MESSAGE { Piece::Cut(bytes, total) } else { Piece::Whole(bytes) }
    }
}

#[cfg(test)]
mod tests;
