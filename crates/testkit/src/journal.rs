//! A record in memory, in the order it was written, that can refuse to be written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::{Outcome, Status};

use crate::lock;

/// Remembers what was recorded.
#[derive(Default)]
pub struct MemoryJournal {
    records: Mutex<Vec<Record>>,
    broken: AtomicBool,
}

/// One entry of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A call was about to run.
    Starting {
        /// The runtime's id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, as JSON.
        arguments: String,
        /// What was allowed, in words.
        effects: Vec<String>,
    },
    /// A call was over.
    Finished {
        /// The runtime's id.
        id: String,
        /// What became of it.
        status: Status,
        /// What the model reads.
        body: String,
    },
    /// Something a test noted itself.
    Note(String),
}

impl MemoryJournal {
    /// An empty record.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// From now on nothing can be written.
    pub fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// Everything so far, in order.
    pub fn records(&self) -> Vec<Record> {
        lock(&self.records).clone()
    }

    /// Adds a line of the test's own, to see what came before and after it.
    pub fn note(&self, text: &str) {
        lock(&self.records).push(Record::Note(text.to_owned()));
    }

    fn write(&self, record: Record) -> BoxFuture<'static, Result<(), String>> {
        let broken = self.broken.load(Ordering::SeqCst);
        if !broken {
            lock(&self.records).push(record);
        }
        Box::pin(std::future::ready(if broken { Err("the disk is full".to_owned()) } else { Ok(()) }))
    }
}

impl Journal for MemoryJournal {
    fn starting<'a>(&'a self, start: &'a Starting<'a>) -> BoxFuture<'a, Result<(), String>> {
        self.write(Record::Starting {
            id: start.id.to_string(),
            tool: start.tool.to_owned(),
            arguments: serde_json::to_string(start.arguments).unwrap_or_default(),
            effects: start.effects.iter().map(ToString::to_string).collect(),
        })
    }

    fn finished<'a>(&'a self, _session: &'a str, outcome: &'a Outcome) -> BoxFuture<'a, Result<(), String>> {
        self.write(Record::Finished {
            id: outcome.id.to_string(),
            status: outcome.status,
            body: outcome.body.clone(),
        })
    }
}
