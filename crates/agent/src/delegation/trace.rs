//! Which tools a child called, and how that went.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::event::Event;

/// Most calls that are remembered; of more, the last.
const MOST: usize = 200;

/// Collects the calls of a session. Clones share what is collected.
#[derive(Debug, Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<Traced>>>);

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traced {
    /// The tool.
    pub tool: String,
    /// One word on how it ended.
    pub status: &'static str,
    /// How long it ran.
    pub seconds: f64,
    /// How long its result is, in bytes.
    pub result_bytes: usize,
}

impl Trace {
    /// What a child's [watcher](crate::EventWatcher) tells its events to.
    pub fn sink(&self) -> Arc<dyn Fn(Event) + Send + Sync> {
        let trace = self.clone();
        Arc::new(move |event| trace.hear(event))
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Traced> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hear(&self, event: Event) {
        let Event::CallEnded { tool, status, seconds, result, .. } = event else { return };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() >= MOST {
            calls.remove(0);
        }
        calls.push(Traced { tool, status, seconds, result_bytes: result.len() });
    }
}
