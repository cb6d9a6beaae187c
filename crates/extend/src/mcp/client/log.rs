//! What a server says beside the protocol: bounded, and kept only in part.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::host::Host;

use super::Vault;

/// Longest line that is kept.
const MAX_LINE: usize = 2000;

/// Lines that are remembered, to be shown when something goes wrong.
const REMEMBERED: usize = 20;

/// Lines that are written down in one window of time; what is more is counted.
const PER_WINDOW: u32 = 200;
const WINDOW: Duration = Duration::from_secs(10);

/// The log of one server.
pub(crate) struct Log {
    server: String,
    vault: Arc<dyn Vault>,
    host: Arc<dyn Host>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: VecDeque<String>,
    since: Duration,
    written: u32,
    dropped: u32,
}

impl Log {
    pub(crate) fn new(server: &str, vault: Arc<dyn Vault>, host: Arc<dyn Host>) -> Self {
        Self { server: server.to_owned(), vault, host, state: Mutex::default() }
    }

    /// Takes a line.
    pub(crate) fn line(&self, text: &str) {
        let cut: String = text.trim_end().chars().take(MAX_LINE).collect();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.len() >= REMEMBERED {
            state.last.pop_front();
        }
        state.last.push_back(cut.clone());
        let now = self.host.now();
        if now.saturating_sub(state.since) > WINDOW {
            state.since = now;
            state.written = 0;
            let dropped = std::mem::take(&mut state.dropped);
            if dropped > 0 {
                self.vault.log(&self.server, &format!("[{dropped} more lines were not kept]"));
            }
        }
        if state.written < PER_WINDOW {
            state.written += 1;
            self.vault.log(&self.server, &cut);
        } else {
            state.dropped = state.dropped.saturating_add(1);
        }
    }

    /// The last thing it said, for the words of an error.
    pub(crate) fn last(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last.iter().rev().find(|line| !line.trim().is_empty()).cloned()
    }
}
