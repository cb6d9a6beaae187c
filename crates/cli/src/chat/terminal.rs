//! The terminal this process was started from: keys, signals and time, as happenings in one queue.
//!
//! While it is held, keys come one by one and are not echoed. However the chat ends, also by a
//! panic, the terminal is given back as it was.

#![expect(
    clippy::disallowed_methods,
    reason = "the door to the keyboard: one thread that reads it, one that waits for signals, and the clock they keep"
)]

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures::channel::mpsc::UnboundedSender;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};

use crate::chat::happening::{Desk, Happening};
use crate::chat::keys::Decoder;
use crate::chat::screen::Size;

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(100);

/// After this long an escape that nothing follows is the key.
const SILENCE: Duration = Duration::from_millis(40);

/// Pastes are marked as such; lines break where they are told to.
const ENTER: &[u8] = b"\x1b[?2004h";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// The size assumed where a terminal does not tell.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Whether there is a terminal to type on and to draw on.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// A terminal that is held.
pub(crate) struct Terminal {
    before: Termios,
    ticking: Arc<AtomicBool>,
    /// Closing it ends the thread that reads keys; a byte wakes it.
    wake: OwnedFd,
    signals: Handle,
    began: Instant,
}

impl Terminal {
    /// Takes hold of the terminal; what happens goes into `queue`.
    pub(crate) fn hold(queue: &UnboundedSender<Happening>) -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let (read, wake) = rustix::pipe::pipe()?;
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGWINCH])?;
        let (ticking, began) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let terminal = Self { before, ticking, wake, signals: signals.handle(), began };
        terminal.enter()?;
        let (keys, ticking) = (queue.clone(), Arc::clone(&terminal.ticking));
        thread::Builder::new().name("keys".to_owned()).spawn(move || read_keys(&keys, &ticking, &read))?;
        let told = queue.clone();
        let listen = move || {
            for signal in signals.forever() {
                let happening = match signal {
                    SIGWINCH => Happening::Resized,
                    signal => Happening::Signal(u8::try_from(signal).unwrap_or_default().saturating_add(128)),
                };
                // Nobody listens any more once the chat is over.
                let _ = told.unbounded_send(happening);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(terminal)
    }

    fn enter(&self) -> io::Result<()> {
        let mut keys = self.before.clone();
        keys.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        keys.input_modes -= InputModes::ICRNL | InputModes::IXON | InputModes::INLCR | InputModes::IGNCR;
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(io::stdin(), OptionalActions::Drain, &keys)?;
        let mut out = io::stdout().lock();
        out.write_all(ENTER)?;
        out.flush()
    }

    fn leave(&self) {
        // There is nobody left to tell when the terminal is gone.
        let mut out = io::stdout().lock();
        let _ = out.write_all(LEAVE).and_then(|()| out.flush());
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }
}

impl Desk for Terminal {
    fn tick(&self, on: bool) {
        if self.ticking.swap(on, Ordering::AcqRel) != on {
            // A full pipe wakes just as well.
            let _ = rustix::io::write(&self.wake, b".");
        }
    }

    fn suspend(&self) -> io::Result<()> {
        self.leave();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        self.enter()
    }

    fn size(&self) -> Size {
        terminal_size::terminal_size().map_or(USUAL, |(columns, rows)| Size {
            columns: usize::from(columns.0).max(10),
            rows: usize::from(rows.0).max(4),
        })
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
        self.signals.close();
    }
}

/// Reads keys until the other end of `wake` is closed or the keyboard is.
fn read_keys(queue: &UnboundedSender<Happening>, ticking: &AtomicBool, wake: &OwnedFd) {
    let stdin = io::stdin();
    let mut decoder = Decoder::default();
    let mut ticked = Instant::now();
    let mut bytes = [0; 4096];
    loop {
        let ticks = ticking.load(Ordering::Acquire);
        let patience = match (decoder.is_waiting(), ticks) {
            (true, _) => Some(SILENCE),
            (false, true) => Some(TICK.saturating_sub(ticked.elapsed())),
            (false, false) => None,
        };
        let time = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let mut wanted = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        let ready = match poll(&mut wanted, time.as_ref()) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        let [keyboard, woken] = wanted.map(|one| one.revents());
        if woken.contains(PollFlags::IN) {
            let _ = rustix::io::read(wake, &mut bytes);
        } else if !woken.is_empty() {
            return;
        }
        let keys = if keyboard.is_empty() {
            if ready == 0 { decoder.silence() } else { Vec::new() }
        } else {
            match rustix::io::read(stdin.as_fd(), &mut bytes) {
                Ok(0) | Err(rustix::io::Errno::IO) => {
                    let _ = queue.unbounded_send(Happening::Closed);
                    return;
                }
                Ok(length) => decoder.feed(bytes.get(..length).unwrap_or_default()),
                Err(_) => Vec::new(),
            }
        };
        let mut happenings: Vec<Happening> = keys.into_iter().map(Happening::Key).collect();
        if ticks && ticked.elapsed() >= TICK {
            ticked = Instant::now();
            happenings.push(Happening::Tick);
        }
        for happening in happenings {
            if queue.unbounded_send(happening).is_err() {
                return;
            }
        }
    }
}
