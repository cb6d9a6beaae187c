//! What happened and a plugin was not told yet.

use std::sync::Arc;

use serde_json::{Value, json};

use super::desk::Desk;
use super::said::Said;
use super::subject::Subject;
use crate::hooks::Observers;
use crate::hooks::line::Line;
use crate::rpc::Tasks;

/// Something that happened: in which session, and what is said of it.
type Told = (Arc<str>, Value);

/// The line of one plugin.
pub(super) struct Unheard {
    /// The plugin, as it is called where something went wrong.
    name: String,
    subject: Arc<Subject>,
    desk: Arc<Desk>,
    observers: Observers,
    line: Arc<Line<Told>>,
}

impl Unheard {
    /// Nothing has happened yet.
    pub(super) fn new(
        name: &str,
        subject: &Arc<Subject>,
        desk: &Arc<Desk>,
        observers: &Observers,
    ) -> Arc<Self> {
        let (subject, desk, line) = (Arc::clone(subject), Arc::clone(desk), Line::new(observers));
        Arc::new(Self { name: name.to_owned(), subject, desk, observers: observers.clone(), line })
    }

    /// Tells this by and by; returns at once. What does not fit is counted.
    pub(super) fn add(self: &Arc<Self>, session: &str, told: Value, tasks: &Arc<dyn Tasks>) {
        let Some(teller) = self.line.add((session.into(), told)) else { return };
        let own = Arc::clone(self);
        // Without threads, or when they end, nobody is told.
        tasks.start(Box::pin(async move {
            for told in teller {
                if let Err(why) = own.tell(told).await {
                    own.observers.note(&format!("{}: {why}", own.name));
                }
            }
        }));
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
}
