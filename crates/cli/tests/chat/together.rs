//! Several programs and one session: at once, and after one of them was killed.

use std::time::Duration;

use hermes::store::sessions::CallState;
use hermes_testkit::{Answer, ModelServer};
use serde_json::Value;

use crate::stage::{Stage, finished, shell, until};

fn session(stage: &Stage) -> String {
    let said = stage.chat(&["-q", "Hello", "--output-format", "json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.json()["session"].as_str().unwrap().to_owned()
}

fn texts(stage: &Stage, id: &str) -> Vec<(String, String)> {
    let messages = stage.store().messages(id).unwrap();
    let text = |content: Option<hermes::store::sessions::Content>| content.map(|it| it.text());
    messages
        .into_iter()
        .map(|stored| (stored.message.role, text(stored.message.content).unwrap_or_default()))
        .collect()
}

#[test]
fn two_programs_that_go_on_with_one_session_take_turns() {
    // The model repeats what was last asked, and takes its time, so that the two overlap.
    let server = ModelServer::deciding(|body| {
        let asked = body["messages"].as_array().unwrap().iter().rev().find(|one| one["role"] == "user");
        let asked = asked.and_then(|one| one["content"].as_str()).unwrap_or("?").to_owned();
        Answer::text(format!("You said: {asked}")).after(Duration::from_millis(400))
    });
    let stage = Stage::with(server);
    let id = session(&stage);

    let both = [stage.start(&["--resume", &id, "-q", "first"]), stage.start(&["-r", &id, "-q", "second"])];
    let said = both.map(finished);

    for said in &said {
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    let kept = texts(&stage, &id);
    let count = |role: &str, text: &str| kept.iter().filter(|one| one.0 == role && one.1 == text).count();
    for asked in ["Hello", "first", "second"] {
        assert_eq!(count("user", asked), 1, "{kept:?}");
    }
    // Each waits for the other's turn to end, and goes on from there.
    let said: Vec<_> = kept.iter().map(|one| (one.0.as_str(), one.1.clone())).collect();
    assert_eq!(said.len(), 6, "{kept:?}");
    for turn in said.chunks(2) {
        assert_eq!((turn[0].0, turn[1].0), ("user", "assistant"), "{kept:?}");
        assert_eq!(turn[1].1, format!("You said: {}", turn[0].1), "{kept:?}");
    }
    assert_eq!(stage.store().check().unwrap(), Vec::<String>::new());

    // And a third goes on from what both left.
    let after = stage.chat(&["--resume", &id, "-q", "third"]);
    assert_eq!((after.code, after.out.trim()), (Some(0), "You said: third"), "{after:?}");
    let body = stage.server.bodies().pop().unwrap();
    let roles: Vec<&Value> = body["messages"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
}

#[test]
fn calls_of_a_living_program_are_left_alone_and_those_of_a_killed_one_are_not() {
    let stage = Stage::saying([shell("c1", "sleep 30")]);
    let mut child = stage.start(&["-q", "Wait", "--yolo"]);
    let started = || {
        let store = stage.store();
        let found = store.list(&hermes::store::sessions::Listing::default()).unwrap();
        found.into_iter().find(|record| {
            store.calls(&record.id).unwrap().iter().any(|call| call.state == CallState::Starting)
        })
    };
    until("the call", || started().is_some());
    let id = started().unwrap().id;

    // Another program looks while the first is alive: its call runs.
    assert_eq!(stage.store().interrupted(Some(&id)).unwrap().len(), 0);
    let store = stage.store();
    let owners = store.path().with_file_name("hermes.db-owners");
    assert_eq!(std::fs::read_dir(&owners).unwrap().count(), 1);

    child.kill().unwrap();
    child.wait().unwrap();

    // A child that was just being started may hold the sign of life for a moment longer.
    until("its end", || !stage.store().interrupted(Some(&id)).unwrap().is_empty());
    let interrupted = stage.store().interrupted(Some(&id)).unwrap();
    assert_eq!(interrupted.len(), 1);
    assert_eq!((interrupted[0].given_id.as_str(), interrupted[0].state), ("c1", CallState::Interrupted));
    // Its sign of life is taken away with it, and it is marked once.
    assert_eq!(std::fs::read_dir(&owners).unwrap().count(), 0);
    assert_eq!(stage.store().interrupted(None).unwrap().len(), 1);
}
