//! Hooks that are told about things beside calls: what they answer, and what comes of those that fail or hang.

use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, join};
use hermes_core::hook::{Denial, EventKind, Heard, Hook, HookEvent, HookFailure, Reaction, tell};
use hermes_core::host::Host;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::hooks::fails;

/// What a hook says in the end.
type Answering = BoxFuture<'static, Result<Option<Reaction>, HookFailure>>;

/// Is told about things beside calls, and answers by what it was told.
struct Ear {
    name: &'static str,
    policy: bool,
    answer: fn(&HookEvent) -> Answering,
}

impl Hook for Ear {
    fn name(&self) -> &str {
        self.name
    }

    fn is_policy(&self) -> bool {
        self.policy
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn hears(&self, _kind: EventKind) -> bool {
        true
    }

    fn told<'a>(&'a self, event: &'a HookEvent) -> BoxFuture<'a, Result<Option<Reaction>, HookFailure>> {
        (self.answer)(event)
    }
}

fn louder(event: &HookEvent) -> Answering {
    let said = event.facts["response_text"].as_str().unwrap_or_default();
    Box::pin(ready(Ok(Some(Reaction::Answer(format!("{said}!"))))))
}

fn told(kind: EventKind, ears: Vec<Ear>) -> Heard {
    let hooks: Vec<Arc<dyn Hook>> = ears.into_iter().map(|ear| Arc::new(ear) as Arc<dyn Hook>).collect();
    let host: Arc<dyn Host> = hermes_testkit::FakeHost::new();
    let event = HookEvent::new(kind, "s", json!({ "response_text": "Hello" }));
    block_on(tell(&hooks, &host, event, &CancellationToken::new()))
}

#[test]
fn a_hook_that_changes_an_answer_sees_what_the_one_before_it_made() {
    let ear = || Ear { name: "loud", policy: false, answer: louder };

    let heard = told(EventKind::TransformLlmOutput, vec![ear(), ear()]);

    assert_eq!(heard.reactions.last(), Some(&Reaction::Answer("Hello!!".to_owned())));
}

#[test]
fn a_policy_hook_that_fails_at_an_event_denies_and_a_plain_one_leaves_a_note() {
    let fails = |policy| Ear { name: "judge", policy, answer: |_| Box::pin(ready(Err(fails()))) };
    let loud = || Ear { name: "loud", policy: false, answer: louder };
    let loudly = || vec![Reaction::Answer("Hello!".to_owned())];

    let plain = told(EventKind::TransformLlmOutput, vec![fails(false), loud()]);
    let policy = told(EventKind::TransformLlmOutput, vec![fails(true), loud()]);
    let noted = told(EventKind::PostLlmCall, vec![fails(true)]);

    let notes = vec!["hook judge: no connection".to_owned()];
    assert_eq!(plain, Heard { reactions: loudly(), notes: notes.clone(), denied: None });
    let denial = Denial { by: "judge".to_owned(), why: "no connection".to_owned() };
    assert_eq!(denial.to_string(), "the policy hook judge failed (no connection)");
    assert_eq!(policy, Heard { denied: Some(denial), ..Heard::default() });
    assert_eq!(noted, Heard { notes, ..Heard::default() }, "nobody waits for who only takes note");
}

#[test]
fn a_hook_that_hangs_at_an_event_is_left_when_somebody_stops_it() {
    let hooks: Vec<Arc<dyn Hook>> =
        vec![Arc::new(Ear { name: "slow", policy: true, answer: |_| Box::pin(pending()) })];
    let clock = hermes_testkit::FakeHost::new();
    let host: Arc<dyn Host> = clock.clone();
    let cancel = CancellationToken::new();
    let event = HookEvent::new(EventKind::PreLlmCall, "s", json!({}));

    let (heard, ()) = block_on(join(tell(&hooks, &host, event, &cancel), async {
        clock.until_sleeping(Duration::from_secs(10)).await;
        cancel.cancel();
    }));

    assert_eq!(heard.denied.map(|denial| denial.why).as_deref(), Some("it was stopped"));
    assert_eq!(clock.sleepers(), 0);
}
