//! Ctrl-C: the first one asks the work at hand to stop, the second ends the program.
//!
//! Only a command that runs something long listens; all others end at once, as the system does it.

#![expect(clippy::disallowed_methods, reason = "the door to signals: one thread that waits for them")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};

/// Exit codes of programs ended by a signal begin here.
const BY_SIGNAL: u8 = 128;

/// Listens until it is dropped.
pub(crate) struct Interrupt {
    /// The one that was heard, if any.
    heard: Arc<AtomicI32>,
    signals: Handle,
}

impl Interrupt {
    /// Calls `stop` when somebody wants the program to end.
    pub(crate) fn watch(stop: impl Fn() + Send + 'static) -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        // First of all: a signal that comes while the rest is set up must find somebody who reads it.
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal only raises the flag, the second finds it raised.
            flag::register_conditional_shutdown(signal, i32::from(exit_code(signal)), Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        let (handle, heard) = (signals.handle(), Arc::new(AtomicI32::new(0)));
        let hears = Arc::clone(&heard);
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                hears.store(signal, Ordering::Release);
                stop();
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(Self { heard, signals: handle })
    }

    /// The exit code that says by which signal the work was stopped, if it was.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.heard.load(Ordering::Acquire) {
            0 => None,
            signal => Some(exit_code(signal)),
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // The thread ends of itself. Nobody waits for that: it has nothing to say, and holds nothing.
        self.signals.close();
    }
}

fn exit_code(signal: i32) -> u8 {
    u8::try_from(signal).map_or(BY_SIGNAL, |signal| BY_SIGNAL.saturating_add(signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_the_one_shells_know() {
        assert_eq!(exit_code(SIGINT), 130);
        assert_eq!(exit_code(SIGTERM), 143);
    }

    #[test]
    fn nobody_is_stopped_when_no_signal_comes() {
        let watch = Interrupt::watch(|| panic!("no signal was sent")).unwrap();

        assert_eq!(watch.exit_code(), None);
    }
}
