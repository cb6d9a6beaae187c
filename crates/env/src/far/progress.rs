//! Tells those who wait for a place what takes so long.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::environment::{Held, Output, Stream, Tell};

/// Longest line that is told.
const LONGEST: usize = 200;

/// Who waits for a place.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<State>);

#[derive(Default)]
struct State {
    next: u64,
    listeners: BTreeMap<u64, Tell>,
    line: VecDeque<u8>,
}

/// One who waits, until it is dropped.
struct Ear {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells this one too.
    pub(crate) fn listen(self: &Arc<Self>, tell: Tell) -> Held {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.listeners.insert(number, tell);
        Box::new(Ear { waiting: Arc::clone(self), number })
    }

    fn tell(&self, words: &str) {
        // Told outside of the lock: a listener may take its time, or stop listening.
        let listeners: Vec<Tell> = self.state().listeners.values().cloned().collect();
        for tell in listeners {
            tell(words);
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.waiting.state().listeners.remove(&self.number);
    }
}

impl Output for Waiting {
    fn take(&self, _: Stream, bytes: &[u8]) {
        let mut lines = Vec::new();
        {
            let mut state = self.state();
            for byte in bytes {
                match byte {
                    b'\n' | b'\r' => lines.push(state.line.drain(..).collect::<Vec<u8>>()),
                    // What a terminal would show is told, not how.
                    byte if byte.is_ascii_control() => {}
                    _ if state.line.len() < LONGEST => state.line.push_back(*byte),
                    _ => {}
                }
            }
        }
        for line in lines {
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() {
                self.tell(line.trim());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_told_to_those_who_listen_now() {
        let waiting = Arc::new(Waiting::default());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&heard);
        let ear = waiting.listen(Arc::new(move |words: &str| keep.lock().unwrap().push(words.to_owned())));

        waiting.take(Stream::Err, b"fetch");
        waiting.take(Stream::Err, b"ing\n\n\x1b 50 %\rdone");
        drop(ear);
        waiting.take(Stream::Err, b"\nunheard\n");

        assert_eq!(*heard.lock().unwrap(), ["fetching", "50 %"]);
    }
}
