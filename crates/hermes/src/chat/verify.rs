//! Turns that are not over before hooks agree: an answer that one is not content with is followed by
//! more work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_agent::{Event, EventSink, TurnEnd, TurnStatus};
use hermes_core::model::Part;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::seat::Seat;
use super::{Chat, hooks};

/// How often hooks may want more in one turn.
const MOST: u32 = 3;

/// Files that calls have changed since the turn began.
#[derive(Clone, Default)]
pub(super) struct Changed(Arc<Mutex<Paths>>);

#[derive(Default)]
struct Paths {
    /// What running calls would change.
    running: BTreeMap<String, Vec<String>>,
    changed: Vec<String>,
}

impl Changed {
    /// Hears of a call.
    pub(super) fn hear(&self, event: &Event) {
        match event {
            Event::CallBegan { id, tool, arguments } => {
                let paths = paths(tool, arguments);
                if !paths.is_empty() {
                    self.lock().running.insert(id.clone(), paths);
                }
            }
            Event::CallEnded { id, status, .. } => {
                let mut all = self.lock();
                let paths = all.running.remove(id).unwrap_or_default();
                if *status == "ok" {
                    let new = paths.into_iter().filter(|path| !all.changed.contains(path));
                    let new: Vec<String> = new.collect();
                    all.changed.extend(new);
                }
            }
            _ => {}
        }
    }

    fn paths(&self) -> Vec<String> {
        self.lock().changed.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files that a call changes when it works.
fn paths(tool: &str, arguments: &Map<String, Value>) -> Vec<String> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    if !matches!(tool, "write_file" | "patch") {
        return Vec::new();
    }
    let of_patch = text("patch").unwrap_or_default().lines().filter_map(|line| {
        let (what, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        matches!(what, "Update" | "Add" | "Delete").then(|| path.trim())
    });
    text("path").into_iter().chain(of_patch).map(str::to_owned).collect()
}

impl Chat {
    /// Takes a turn, and more as long as a hook wants more to be done; all of it is one turn to whoever
    /// looks on.
    pub(super) async fn until_agreed(
        &self,
        seat: &Seat,
        input: Vec<Part>,
        changed: &Changed,
        events: EventSink<'_>,
        cancel: &CancellationToken,
    ) -> TurnEnd {
        let first = |event| {
            if !matches!(event, Event::TurnEnded(_)) {
                events(event);
            }
        };
        let mut end = seat.driver.turn(&seat.id, input, &self.steering, &first, cancel).await;
        for attempt in 0..MOST {
            if end.status != TurnStatus::Answered {
                break;
            }
            let paths = changed.paths();
            let wish = hooks::still_to_do(&self.runtime, seat, attempt, &end, &paths, cancel).await;
            let text = match wish {
                Ok(Some(text)) => text,
                Ok(None) => break,
                Err(no) => {
                    (end.status, end.error) = (no.status, Some(no.why));
                    break;
                }
            };
            events(Event::Notice { text: format!("a hook wants more before this is the end: {text}") });
            let further = |event| {
                if !matches!(event, Event::TurnBegan { .. }) {
                    first(event);
                }
            };
            let input = vec![Part::Text { text }];
            let more = seat.driver.turn(&seat.id, input, &self.steering, &further, cancel).await;
            end = together(&end, more);
        }
        events(Event::TurnEnded(end.clone()));
        end
    }
}

/// Two turns as one: the end of the second, the cost of both.
fn together(before: &TurnEnd, mut end: TurnEnd) -> TurnEnd {
    end.usage.add(before.usage);
    end.model_calls += before.model_calls;
    end.tool_calls += before.tool_calls;
    end.denied += before.denied;
    end.seconds += before.seconds;
    end.cost_usd = before.cost_usd.zip(end.cost_usd).map(|(one, other)| one + other);
    end
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn began(id: &str, tool: &str, arguments: &Value) -> Event {
        let arguments = arguments.as_object().unwrap().clone();
        Event::CallBegan { id: id.to_owned(), tool: tool.to_owned(), arguments }
    }

    fn ended(id: &str, status: &'static str) -> Event {
        let (tool, result) = (String::new(), String::new());
        Event::CallEnded { id: id.to_owned(), tool, status, seconds: 0.0, result }
    }

    #[test]
    fn files_count_as_changed_once_the_call_has_worked() {
        let changed = Changed::default();
        let patch =
            "*** Begin Patch\n*** Update File: src/a.rs\n-x\n+*** y\n*** Add File: b.rs\n*** End Patch";

        changed.hear(&began("1", "write_file", &json!({ "path": "n.txt", "content": "" })));
        changed.hear(&began("2", "patch", &json!({ "mode": "patch", "patch": patch })));
        changed.hear(&began("3", "write_file", &json!({ "path": "failed.txt" })));
        changed.hear(&began("4", "read_file", &json!({ "path": "read.txt" })));
        changed.hear(&ended("2", "ok"));
        changed.hear(&ended("1", "ok"));
        changed.hear(&ended("3", "failed"));
        changed.hear(&ended("4", "ok"));

        assert_eq!(changed.paths(), ["src/a.rs", "b.rs", "n.txt"]);
    }
}
