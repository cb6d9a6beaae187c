//! `kill -9` at random instants of turns with many calls: the session always opens, what was finished
//! is there once, nothing runs twice. And eight programs at once on one store.
//!
//! Every call appends a number of its own to a file, so that a call which ran twice shows there. A
//! short run by default; `HERMES_TEST_FULL=1` makes it the whole one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes::store::sessions::{CallState, Mended, Sessions};
use hermes_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

use crate::stage::{Stage, finished, until};

/// Calls in a turn, and how many the model asks for at once.
const CALLS: usize = 20;
const AT_ONCE: usize = 5;

/// Kills in a short and in a whole run; a new store after so many.
const KILLS: (u32, u32) = (25, 200);
const PER_STORE: u32 = 25;

/// How many write at once, and for how long when the whole run is wanted; else each takes one turn.
const WRITERS: usize = 8;
const TOGETHER: Duration = Duration::from_mins(1);

/// The model: it asks for calls until a turn has had them all, and notes what is wrong with what it
/// is sent.
struct Scene {
    stage: Stage,
    wrong: Arc<Mutex<Vec<String>>>,
}

impl Scene {
    fn new() -> Self {
        let (next, wrong) = (AtomicU64::new(0), Arc::new(Mutex::new(Vec::new())));
        let found = Arc::clone(&wrong);
        let server = ModelServer::deciding(move |body| {
            let messages = body["messages"].as_array().unwrap();
            found.lock().unwrap().extend(unanswered(messages));
            let turn = messages.iter().rposition(|one| one["role"] == "user").unwrap();
            let done = messages[turn..].iter().filter(|one| one["role"] == "tool").count();
            if messages[turn]["content"] == "Hello" || done >= CALLS {
                return Answer::text("Done.");
            }
            (0..AT_ONCE).fold(Answer::text("More."), |answer, _| {
                let n = next.fetch_add(1, Ordering::SeqCst);
                let command = format!("echo n{n} >> calls.log");
                answer.and_call(&format!("n{n}"), "terminal", &json!({ "command": command }))
            })
        });
        Self { stage: Stage::with(server), wrong }
    }

    /// A session in which something was said.
    fn session(&self) -> String {
        let said = self.stage.chat(&["-q", "Hello", "--output-format", "json"]);
        said.json()["session"].as_str().unwrap().to_owned()
    }

    /// What the calls did, in order.
    fn effects(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.stage.project().join("calls.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Everything that must hold after a kill at any instant; what was found to mend.
    fn check(&self, sessions: &[String]) -> Mended {
        let store = self.stage.store();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let (mut known, mut found) = (BTreeMap::new(), Mended::default());
        for session in sessions {
            // A shell that was just being started by the killed program counts as its owner until it
            // is a program of its own, and until then nothing is mended.
            until("the end of the killed program", || {
                let mended = store.mend(session).unwrap();
                found.finished += mended.finished;
                found.interrupted += mended.interrupted;
                found.not_started += mended.not_started;
                let begun = store.calls(session).unwrap();
                let (asked, results) = asked_and_answered(&store, session);
                begun.iter().all(|record| record.state != CallState::Starting) && asked.len() <= results.len()
            });
            for record in store.calls(session).unwrap() {
                let before = known.insert(record.given_id.clone(), record.state);
                assert_eq!(before, None, "begun twice: {record:?}");
            }
            every_call_has_one_answer(&store, session, &known);
        }
        let mut seen = BTreeSet::new();
        for effect in self.effects() {
            assert!(known.contains_key(&effect), "had an effect and no record: {effect}");
            assert!(seen.insert(effect.clone()), "ran twice: {effect}");
        }
        for (call, _) in known.iter().filter(|(_, state)| **state == CallState::Finished) {
            assert!(seen.contains(call), "finished without its effect: {call}");
        }
        assert_eq!(*self.wrong.lock().unwrap(), Vec::<String>::new());
        found
    }
}

/// Calls in what a model is sent that are not answered exactly once, right behind.
fn unanswered(messages: &[Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let asked: Vec<&Value> = calls.map(|call| &call["id"]).collect();
        let behind = messages[at + 1..].iter().take_while(|one| one["role"] == "tool");
        let answered: Vec<&Value> = behind.map(|one| &one["tool_call_id"]).collect();
        if !asked.is_empty() && asked != answered {
            wrong.push(format!("asked {asked:?}, answered {answered:?}"));
        }
    }
    wrong
}

/// The calls that the model asked for, and their results.
fn asked_and_answered(store: &Sessions, session: &str) -> (Vec<String>, BTreeMap<String, String>) {
    let (mut asked, mut results) = (Vec::new(), BTreeMap::new());
    for stored in store.messages(session).unwrap() {
        let message = stored.message;
        for call in message.tool_calls.iter().flat_map(|calls| calls.as_array().unwrap()) {
            asked.push(call["id"].as_str().unwrap().to_owned());
        }
        if let (Some(id), Some(content)) = (message.tool_call_id, message.content) {
            assert!(results.insert(id.clone(), content.text()).is_none(), "two results: {id}");
        }
    }
    (asked, results)
}

/// Each call the model asked for has one result: its own, or one that says it was cut off.
fn every_call_has_one_answer(store: &Sessions, session: &str, known: &BTreeMap<String, CallState>) {
    let (asked, results) = asked_and_answered(store, session);
    assert_eq!(asked.len(), results.len());
    for id in asked {
        let result: Value = serde_json::from_str(&results[&id]).unwrap();
        let cut_off = result["interrupted"] == json!(true);
        let finished = known.get(&id) == Some(&CallState::Finished);
        assert_eq!(cut_off, !finished, "{id}: {result}");
    }
}

fn whole_run() -> bool {
    std::env::var("HERMES_TEST_FULL").is_ok_and(|full| full == "1")
}

#[test]
fn a_kill_at_any_instant_of_a_turn_loses_nothing_and_repeats_nothing() {
    let kills = if whole_run() { KILLS.1 } else { KILLS.0 };
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut found, mut hit) = (Mended::default(), 0);
    for _ in 0..kills.div_ceil(PER_STORE) {
        let scene = Scene::new();
        let id = scene.session();
        for round in 0..PER_STORE.min(kills) {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let question = format!("round {round}");
            let before = scene.effects().len();
            let mut child = scene.stage.start(&["-r", &id, "-Q", "-q", &question]);
            // Most are aimed at the calls, wherever in a turn these are on this machine.
            let within = if round % 4 == 0 { 700_000 } else { 50_000 };
            while within < 700_000 && scene.effects().len() == before && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_micros((chance >> 33) % within));
            child.kill().unwrap();
            hit += usize::from(child.wait().unwrap().code().is_none());
            // In between, the program itself finds what it left behind.
            if chance >> 62 == 0 {
                continue;
            }
            let mended = scene.check(std::slice::from_ref(&id));
            found.finished += mended.finished;
            found.interrupted += mended.interrupted;
            found.not_started += mended.not_started;
        }
        let before = scene.effects().len();
        let said = finished(scene.stage.start(&["-r", &id, "-q", "the last round"]));
        assert_eq!((said.code, said.out.as_str()), (Some(0), "Done.\n"), "{said:?}");
        assert_eq!(scene.effects().len(), before + CALLS);
        scene.check(&[id]);
    }
    // Enough of the kills did hit turns in the middle, however fast the machine is.
    assert!(hit > usize::try_from(kills / 5).unwrap(), "{hit} of {kills} were killed before their end");
    assert!(found.finished + found.interrupted + found.not_started > 0, "nothing was there to mend");
}

#[test]
fn eight_at_once_share_a_store() {
    let scene = Scene::new();
    let sessions: Vec<String> = (0..WRITERS).map(|_| scene.session()).collect();
    let (began, mut turns) = (Instant::now(), 0);
    while turns == 0 || (whole_run() && began.elapsed() < TOGETHER) {
        turns += 1;
        let question = format!("turn {turns}");
        let start = |id: &String| scene.stage.start(&["-r", id, "-Q", "-q", &question]);
        let all: Vec<_> = sessions.iter().map(start).collect();
        for child in all {
            let said = finished(child);
            assert_eq!((said.code, said.out.as_str()), (Some(0), "Done.\n"), "{said:?}");
        }
    }

    assert_eq!(scene.check(&sessions), Mended::default());
    assert_eq!(scene.effects().len(), WRITERS * CALLS * turns);
}
