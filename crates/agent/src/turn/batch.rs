//! The calls of one answer: ids that can be told apart, and which of the calls are worth running.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::model::{Message, ModelCall};
use hermes_core::outcome::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fate {
    Run,
    /// It says the same as an earlier call of this batch.
    SameAs(usize),
    TooMany,
}

/// The calls of one answer, with what is to become of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    calls: Vec<ModelCall>,
    fates: Vec<Fate>,
}

/// Why a call has no result of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It was not handed to anybody.
    NotRun,
    /// It was handed over, and nothing came back.
    NoWord,
}

impl Batch {
    /// Sorts out the calls of an answer; at most `most` are run. Their ids must be unique.
    pub(crate) fn new(calls: &[ModelCall], most: usize) -> Self {
        let mut seen: Vec<(&str, Arguments<'_>, usize)> = Vec::new();
        let mut running = 0;
        let mut fates = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            let arguments = Arguments::of(&call.arguments);
            let twin = seen.iter().find(|(name, earlier, _)| *name == call.name && *earlier == arguments);
            fates.push(match twin {
                Some((_, _, earlier)) => Fate::SameAs(*earlier),
                None if running >= most.max(1) => Fate::TooMany,
                None => {
                    running += 1;
                    seen.push((&call.name, arguments, at));
                    Fate::Run
                }
            });
        }
        Self { calls: calls.to_vec(), fates }
    }

    /// The calls to run, in order.
    pub(crate) fn to_run(&self) -> Vec<ModelCall> {
        let pairs = self.calls.iter().zip(&self.fates);
        pairs.filter(|(_, fate)| **fate == Fate::Run).map(|(call, _)| call.clone()).collect()
    }

    /// How many calls there are, the ones not worth running included.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// A number that differs when the calls differ, or what came of them.
    pub(crate) fn digest(&self, outcomes: &[Outcome]) -> u64 {
        let mut hash = DefaultHasher::new();
        for call in &self.calls {
            (&call.name, &call.arguments).hash(&mut hash);
        }
        for outcome in outcomes {
            outcome.body.hash(&mut hash);
        }
        hash.finish()
    }

    /// Whether every call is of one of these tools.
    pub(crate) fn is_only(&self, tools: &[String]) -> bool {
        self.calls.iter().all(|call| tools.contains(&call.name))
    }

    /// One result for each call, in order, whatever came back.
    pub(crate) fn results(&self, outcomes: &[Outcome], missing: Missing) -> Vec<Message> {
        let pairs = self.calls.iter().zip(&self.fates);
        pairs
            .map(|(call, fate)| {
                let outcome = outcomes.iter().find(|outcome| outcome.given_id == call.id);
                let (name, content) = match (fate, outcome) {
                    (Fate::Run, Some(outcome)) => (outcome.tool.to_string(), outcome.body.clone()),
                    (Fate::Run, None) => (call.name.clone(), missing.words()),
                    (Fate::SameAs(at), _) => (call.name.clone(), self.same_as(*at)),
                    (Fate::TooMany, _) => (call.name.clone(), too_many()),
                };
                let images = match (fate, outcome) {
                    (Fate::Run, Some(outcome)) => pictures(outcome),
                    _ => Vec::new(),
                };
                Message::Tool { call_id: call.id.clone(), name, content, images }
            })
            .collect()
    }

    fn same_as(&self, at: usize) -> String {
        let id = self.calls.get(at).map(|call| call.id.as_str());
        json!({ "same_as": id, "note": "This call repeats another one of the same answer; it ran once. \
                See the result of that call." })
        .to_string()
    }
}

/// The pictures a call handed back, as `data:` URLs.
fn pictures(outcome: &Outcome) -> Vec<String> {
    let pictures = outcome.attachments.iter().filter(|it| it.media_type.starts_with("image/"));
    pictures.map(|it| format!("data:{};base64,{}", it.media_type, STANDARD.encode(&it.bytes))).collect()
}

impl Missing {
    fn words(self) -> String {
        let error = match self {
            Self::NotRun => "cancelled: the turn was stopped before this call ran",
            Self::NoWord => {
                "cancelled: the turn was stopped while this call ran; how far it came is not known"
            }
        };
        json!({ "error": error, "status": "cancelled" }).to_string()
    }
}

fn too_many() -> String {
    json!({ "error": "not run: too many calls in one answer. Make fewer calls at a time." }).to_string()
}

/// Arguments as far as they matter for being the same.
#[derive(PartialEq)]
enum Arguments<'a> {
    Json(Value),
    Text(&'a str),
}

impl<'a> Arguments<'a> {
    fn of(text: &'a str) -> Self {
        match serde_json::from_str(text) {
            Ok(value) => Self::Json(value),
            Err(_) => Self::Text(text.trim()),
        }
    }
}

/// Gives calls without an id, or with one that another call of the answer has, an id of their own.
pub(crate) fn name_apart(calls: &mut [ModelCall], answer: u32) {
    for at in 0..calls.len() {
        let (earlier, rest) = calls.split_at_mut(at);
        let Some((call, later)) = rest.split_first_mut() else { return };
        if !call.id.trim().is_empty() && earlier.iter().all(|other| other.id != call.id) {
            continue;
        }
        let taken = |id: &str| earlier.iter().chain(later.iter()).any(|other| other.id == id);
        let mut id = format!("call_{answer}_{at}");
        while taken(&id) {
            id.push('_');
        }
        call.id = id;
    }
}

/// Whether the arguments of some call stop in the middle.
pub(crate) fn is_cut(calls: &[ModelCall]) -> bool {
    calls.iter().any(|call| {
        let text = call.arguments.trim();
        !text.is_empty() && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, name: &str, arguments: &str) -> ModelCall {
        ModelCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn the_same_call_runs_once_and_both_ids_are_answered() {
        let calls = [
            call("a", "read", r#"{"path":"x","limit":1}"#),
            call("b", "read", r#"{ "limit": 1, "path": "x" }"#),
            call("c", "read", r#"{"path":"y"}"#),
        ];
        let batch = Batch::new(&calls, 64);

        let ids: Vec<String> = batch.to_run().into_iter().map(|call| call.id).collect();
        assert_eq!(ids, ["a", "c"]);
        let results = batch.results(&[], Missing::NotRun);
        assert_eq!(results.len(), 3);
        let Message::Tool { call_id, content, .. } = &results[1] else { panic!() };
        assert_eq!(call_id, "b");
        assert!(content.contains(r#""same_as":"a""#), "{content}");
    }

    #[test]
    fn more_calls_than_allowed_are_answered_but_not_run() {
        let calls: Vec<ModelCall> = (0..5).map(|n| call(&n.to_string(), "t", &format!("[{n}]"))).collect();
        let batch = Batch::new(&calls, 2);

        assert_eq!(batch.to_run().len(), 2);
        assert_eq!(batch.results(&[], Missing::NotRun).len(), 5);
    }

    #[test]
    fn missing_and_repeated_ids_are_made_up() {
        let mut calls =
            vec![call("", "t", "1"), call("x", "t", "2"), call("x", "t", "3"), call("call_7_0", "t", "4")];
        name_apart(&mut calls, 7);

        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_7_0_", "x", "call_7_2", "call_7_0"]);
    }

    #[test]
    fn only_what_stops_in_the_middle_is_cut() {
        assert!(is_cut(&[call("a", "t", r#"{"path": "x"#)]));
        assert!(!is_cut(&[call("a", "t", r#"{"path": "x"}"#), call("b", "t", ""), call("c", "t", "{bad}")]));
    }
}
