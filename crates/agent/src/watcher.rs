//! Turns what a session sees of its calls into events.

use std::sync::Arc;

use hermes_core::call::CallId;
use hermes_core::hook::CallView;
use hermes_core::journal::Starting;
use hermes_core::outcome::Outcome;
use hermes_core::watch::Watcher;

use crate::event::Event;

/// Tells a sink about calls. A session is opened before its turns, so the sink is shared.
#[derive(Clone)]
pub struct EventWatcher(pub Arc<dyn Fn(Event) + Send + Sync>);

impl Watcher for EventWatcher {
    fn began(&self, start: &Starting<'_>) {
        (self.0)(Event::CallBegan {
            id: start.id.to_string(),
            tool: start.tool.to_owned(),
            arguments: start.arguments.clone(),
        });
    }

    fn progress(&self, call: &CallId, words: &str) {
        (self.0)(Event::CallProgress { id: call.to_string(), words: words.to_owned() });
    }

    fn refused(&self, call: &CallView) {
        (self.0)(Event::CallRefused {
            id: call.id.to_string(),
            tool: call.tool.to_string(),
            arguments: call.arguments.clone(),
        });
    }

    fn ended(&self, outcome: &Outcome) {
        (self.0)(Event::CallEnded {
            id: outcome.id.to_string(),
            tool: outcome.tool.to_string(),
            status: outcome.status.word(),
            seconds: outcome.took.as_secs_f64(),
            result: outcome.body.clone(),
        });
        for note in &outcome.notes {
            (self.0)(Event::Notice { text: note.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use hermes_core::outcome::Status;
    use serde_json::Map;

    use super::*;

    #[test]
    fn a_call_is_told_at_its_beginning_and_its_end() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let watcher = EventWatcher(Arc::new(move |event| sink.lock().unwrap().push(event)));
        let id = CallId::from("1");
        let arguments = Map::new();
        let (given_id, session, tool) = ("", "s", "t");
        watcher.began(&Starting { id: &id, given_id, session, tool, arguments: &arguments, effects: &[] });
        watcher.progress(&id, "half");
        watcher.ended(&Outcome {
            id,
            given_id: String::new(),
            tool: "t".into(),
            status: Status::Denied,
            body: "{}".to_owned(),
            spilled: None,
            attachments: vec![],
            notes: vec!["hook h: it panicked".to_owned()],
            took: Duration::from_millis(1500),
        });

        let expected = [
            Event::CallBegan { id: "1".to_owned(), tool: "t".to_owned(), arguments: Map::new() },
            Event::CallProgress { id: "1".to_owned(), words: "half".to_owned() },
            Event::CallEnded {
                id: "1".to_owned(),
                tool: "t".to_owned(),
                status: "denied",
                seconds: 1.5,
                result: "{}".to_owned(),
            },
            Event::Notice { text: "hook h: it panicked".to_owned() },
        ];
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}
