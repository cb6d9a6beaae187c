//! What happened and a plugin was not told yet. Each plugin has a line of its own, told in its order and one at a
//! time: one that does not answer is in the way of no other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::desk::Desk;
use super::said::Said;
use super::subject::Subject;
use crate::hooks::{Counted, Observers};
use crate::rpc::Tasks;

/// Most that waits to be told to one plugin.
const MAX_WAITING: usize = 64;

/// Something that happened: in which session, and what is said of it.
type Told = (Arc<str>, Value);

/// The line of one plugin.
pub(super) struct Unheard {
    /// The plugin, as it is called where something went wrong.
    name: String,
    subject: Arc<Subject>,
    desk: Arc<Desk>,
    observers: Observers,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<(Told, Counted)>,
    /// Whether somebody tells what waits.
    is_told: bool,
}

impl Unheard {
    /// Nothing has happened yet.
    pub(super) fn new(
        name: &str,
        subject: &Arc<Subject>,
        desk: &Arc<Desk>,
        observers: &Observers,
    ) -> Arc<Self> {
        let (subject, desk, observers) = (Arc::clone(subject), Arc::clone(desk), observers.clone());
        Arc::new(Self { name: name.to_owned(), subject, desk, observers, line: Mutex::default() })
    }

    /// Tells this by and by; returns at once. What does not fit is counted.
    pub(super) fn add(self: &Arc<Self>, session: &str, told: Value, tasks: &Arc<dyn Tasks>) {
        {
            let mut line = self.line();
            if line.waiting.len() >= MAX_WAITING {
                return self.observers.drop_some(1);
            }
            line.waiting.push_back(((session.into(), told), self.observers.waits()));
            if std::mem::replace(&mut line.is_told, true) {
                return;
            }
        }
        let telling = Telling { of: Arc::clone(self), is_over: false, _counted: self.observers.at_work() };
        // Without threads, or when they end, nobody is told.
        tasks.start(Box::pin(telling.tell_all()));
    }

    /// Tells one thing; why that failed.
    async fn tell(&self, (session, mut told): Told) -> Result<(), String> {
        let admitted = self.desk.admit_hook(&session);
        if let Some(fields) = told.as_object_mut() {
            fields.insert("within".to_owned(), json!(admitted.number()));
        }
        let said = self.subject.ask_soon("hook", told).await.map_err(|wrong| wrong.to_string())?;
        // What is answered to news is not looked at.
        let errors = Said::of(said, false).unwrap_or_default().errors;
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one who tells what waits in a line.
struct Telling {
    of: Arc<Unheard>,
    is_over: bool,
    _counted: Counted,
}

impl Telling {
    async fn tell_all(mut self) {
        while let Some(told) = self.next() {
            if let Err(why) = self.of.tell(told).await {
                self.of.observers.note(format!("{}: {why}", self.of.name));
            }
        }
    }

    /// What has waited longest; the telling is over when nothing has.
    fn next(&mut self) -> Option<Told> {
        let mut line = self.of.line();
        let next = line.waiting.pop_front();
        if next.is_none() {
            (line.is_told, self.is_over) = (false, true);
        }
        next.map(|(told, _)| told)
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let left: Vec<_> = {
            let mut line = self.of.line();
            line.is_told = false;
            line.waiting.drain(..).collect()
        };
        self.of.observers.drop_some(left.len());
    }
}
