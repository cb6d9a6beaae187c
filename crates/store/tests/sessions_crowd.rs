//! Many processes write to one store at once, and some are killed on the way.

#![expect(clippy::disallowed_methods, reason = "a test with real processes that are killed at random times")]

mod support;

use std::process::Child;
use std::time::{Duration, Instant};

use hermes_store::sessions::Durability;
use support::{Scene, check, write_until_killed};

const WRITERS: usize = 8;

#[test]
fn crowd_writer() {
    write_until_killed();
}

#[test]
fn eight_processes_write_at_once_and_nothing_is_lost() {
    let long = std::env::var("HERMES_TEST_FULL").is_ok_and(|value| !value.is_empty() && value != "0");
    let time = Duration::from_secs(if long { 60 } else { 4 });
    let dir = tempfile::tempdir().unwrap();
    let scene = Scene::new(dir.path(), Durability::Kill);
    let sessions: Vec<String> = (0..WRITERS).map(|number| format!("s{number}")).collect();
    let started = Instant::now();
    let mut children: Vec<Child> =
        sessions.iter().map(|session| scene.writer("crowd_writer", session)).collect();

    let mut next = 0;
    while started.elapsed() < time {
        std::thread::sleep(Duration::from_millis(333));
        let child = &mut children[next];
        assert!(child.try_wait().unwrap().is_none(), "a writer gave up");
        child.kill().unwrap();
        child.wait().unwrap();
        *child = scene.writer("crowd_writer", &sessions[next]);
        next = (next + 1) % WRITERS;
    }
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    check(&scene, &sessions);
    let store = scene.open();
    for session in &sessions {
        assert!(store.calls(session).unwrap().len() > support::CALLS / 2, "{session} got nowhere");
    }
}
