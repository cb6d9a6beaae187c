//! What a program says: lines, taken in by whoever waits for them.
//!
//! That is a thread that has nothing to do but wait for the answer of a call, and otherwise the task that
//! minds the connection. Answers to calls go to their callers at once, from either; the rest is kept for
//! the task. Being woken by somebody who was woken is most of what a quick call costs, so the task does not
//! even listen while such threads come and go; when none has come for a moment, it listens again.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
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
        let polled = poll(&mut ends, None);
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
                let got = self.look(took, |chunk| Ok(rustix::io::read(&self.pipe, chunk)?));
                if got == Got::End || self.kept_any() {
                    self.told.notify_one();
                }
                matches!(got, Got::All | Got::More)
            }
        }
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
                Ok(0) => taken.ended = true,
                Ok(count) => {
                    taken.add(count, &took);
                    // A pipe that gives less than it could is empty.
                    if count < CHUNK {
                        return Got::All;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Got::All,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => taken.ended = true,
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
            let piece = match self.line.take() {
                Piece::Whole(line) => took(line).map(Piece::Whole),
                cut @ Piece::Cut(..) => Some(cut),
            };
            if let Some(piece) = piece {
                self.bytes += piece.len();
                self.kept.push_back(piece);
            }
        }
        self.line.push(last.unwrap_or_default());
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
#[expect(
    clippy::disallowed_methods,
    reason = "the tests are the other side of a pipe, with threads and time of their own"
)]
mod tests {
    use std::io::{PipeWriter, Write as _};

    use futures::future::BoxFuture;

    use tokio::runtime::Runtime;

    use super::*;

    /// Time as it passes.
    struct Passing(tokio::runtime::Handle);

    impl Host for Passing {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
            let _inside = self.0.enter();
            Box::pin(tokio::time::sleep(time))
        }

        fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
            job();
        }
    }

    /// An output and the other end of it, in a runtime.
    fn output() -> (Runtime, Arc<Output>, PipeWriter) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let reader = OwnedFd::from(reader);
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let inside = runtime.enter();
        let output = Arc::new(Output::new(reader, Arc::new(Passing(runtime.handle().clone()))).unwrap());
        drop(inside);
        (runtime, output, writer)
    }

    /// Takes lines that begin with an exclamation mark.
    fn loud(line: Vec<u8>) -> Option<Vec<u8>> {
        (!line.starts_with(b"!")).then_some(line)
    }

    fn text(piece: Option<Piece>) -> String {
        match piece {
            Some(Piece::Whole(line)) => String::from_utf8(line).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_without_end_takes_no_memory_without_end() {
        let mut line = Line::default();
        for _ in 0..40 {
            line.push(&vec![b'x'; 1024 * 1024]);
        }
        assert!(line.bytes.capacity() < 3 * MAX_MESSAGE);
        line.push(b"\"id\":3}");

        let Piece::Cut(edges, total) = line.take() else { panic!() };

        assert!(edges.len() < 5 * EDGE && total > 40_000_000);
        assert!(edges.ends_with(b"\"id\":3}"));
    }

    #[test]
    fn whoever_sleeps_takes_what_comes_and_the_task_gets_the_rest_in_order() {
        let (runtime, output, mut writer) = output();
        let (tell, told) = std::sync::mpsc::channel();
        writer.write_all(b"one\n!mine\ntwo\nthr").unwrap();

        assert!(output.sleep(&AtomicBool::new(false), |line| {
            let rest = loud(line);
            if rest.is_none() {
                tell.send(()).unwrap();
            }
            rest
        }));

        assert!(told.try_recv().is_ok());
        writer.write_all(b"ee\n").unwrap();
        drop(writer);
        let heard = runtime.block_on(async {
            [output.next(loud).await, output.next(loud).await, output.next(loud).await].map(text)
        });
        assert_eq!(heard, ["one", "two", "three"]);
        assert!(runtime.block_on(output.next(loud)).is_none());
        assert!(!output.sleep(&AtomicBool::new(false), loud), "nothing will come");
    }

    #[test]
    fn a_task_that_waits_hears_of_what_a_sleeper_left_for_it() {
        let (runtime, output, mut writer) = output();
        for n in 0..200 {
            let (task, bell, woken) =
                (Arc::clone(&output), Arc::clone(&output), Arc::new(AtomicBool::new(false)));
            let flag = Arc::clone(&woken);
            let heard = runtime.spawn(async move {
                let heard = task.next(loud).await;
                flag.store(true, Ordering::SeqCst);
                bell.wake();
                heard
            });
            writer.write_all(format!("{n}\n!\n").as_bytes()).unwrap();
            // Whoever is first takes both lines in; the first of them is for the task either way.
            while !woken.load(Ordering::SeqCst) {
                output.sleep(&woken, loud);
            }

            assert_eq!(text(runtime.block_on(heard).unwrap()), n.to_string());
        }
    }

    #[test]
    fn the_task_listens_again_when_no_thread_comes_any_more_or_somebody_needs_it() {
        let (runtime, output, mut writer) = output();
        for attended in [false, true] {
            writer.write_all(b"!\n").unwrap();
            assert!(output.sleep(&AtomicBool::new(false), loud));
            assert!(output.ear().is_none(), "the thread listened");
            let task = Arc::clone(&output);
            let heard = runtime.spawn(async move { task.next(loud).await });
            if attended {
                output.attend();
            }
            writer.write_all(b"later\n").unwrap();

            assert_eq!(text(runtime.block_on(heard).unwrap()), "later");
            assert!(output.ear().is_some());
        }
    }

    #[test]
    fn the_bell_wakes_a_sleeper_before_and_while_it_sleeps() {
        let (_runtime, output, _writer) = output();
        let woken = Arc::new(AtomicBool::new(true));
        assert!(output.sleep(&woken, loud), "it was woken before it slept");

        for _ in 0..200 {
            woken.store(false, Ordering::SeqCst);
            let (sleeper, flag) = (Arc::clone(&output), Arc::clone(&woken));
            let other = std::thread::spawn(move || {
                flag.store(true, Ordering::SeqCst);
                sleeper.wake();
            });
            while !woken.load(Ordering::SeqCst) {
                assert!(output.sleep(&woken, loud));
            }
            other.join().unwrap();
        }
    }

    #[test]
    fn one_sleeps_and_another_is_sent_away() {
        let (_runtime, output, mut writer) = output();
        let sleeper = Arc::clone(&output);
        let first = std::thread::spawn(move || sleeper.sleep(&AtomicBool::new(false), loud));
        while !output.asleep.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }

        assert!(!output.sleep(&AtomicBool::new(false), loud));

        writer.write_all(b"!\n").unwrap();
        assert!(first.join().unwrap());
    }

    #[test]
    fn what_nobody_takes_is_kept_up_to_a_limit_and_the_rest_stays_in_the_pipe() {
        let (runtime, output, mut writer) = output();
        let many = 2 * MAX_KEPT;
        let writing = std::thread::spawn(move || {
            for n in 0..many {
                writer.write_all(format!("{n} {}\n", "x".repeat(1024)).as_bytes()).unwrap();
            }
        });
        while output.sleep(&AtomicBool::new(false), loud) {}

        assert!(output.taken().kept.len() < MAX_KEPT + CHUNK / 1024);
        let heard: Vec<String> = runtime.block_on(async {
            let mut heard = Vec::new();
            while let Some(piece) = output.next(loud).await {
                heard.push(text(Some(piece)).split(' ').next().unwrap().to_owned());
            }
            heard
        });
        writing.join().unwrap();
        assert_eq!(heard, (0..many).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}
