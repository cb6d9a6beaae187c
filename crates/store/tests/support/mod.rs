//! What the tests with real processes share: a real clock, a host with threads, and a writer that
//! works like an agent and can be killed at any instant.

#![expect(clippy::disallowed_methods, reason = "a test with real files, threads and processes")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers are part of the tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures::executor::block_on;
use futures::future::{BoxFuture, join_all};
use hermes_core::call::CallId;
use hermes_core::host::Host;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::{Outcome, Status};
use hermes_store::sessions::{
    CallState, Clock, Content, Durability, Mended, Message, NewSession, SessionStore, Sessions,
};
use serde_json::{Map, json};

/// Calls in a turn, and how many of them run at once.
pub(crate) const CALLS: usize = 20;
const AT_ONCE: usize = 4;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The clock of this machine.
pub(crate) struct Real;

impl Clock for Real {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// A host with a thread for each piece of work.
pub(crate) struct Threads(Instant);

impl Host for Threads {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}

/// Files of one test: the store, what the calls did, and which results were told to be safe.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) db: PathBuf,
    pub(crate) durability: Durability,
}

impl Scene {
    pub(crate) fn new(folder: &Path, durability: Durability) -> Self {
        Self { db: folder.join("hermes.db"), durability }
    }

    pub(crate) fn open(&self) -> Sessions {
        Sessions::open(&self.db, Arc::new(Real), self.durability).unwrap()
    }

    pub(crate) fn shared(&self) -> SessionStore {
        let host: Arc<dyn Host> = Arc::new(Threads(Instant::now()));
        let clock: Arc<dyn Clock> = Arc::new(Real);
        SessionStore::new(&self.db, &host, &clock, self.durability)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.db.with_file_name(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn note(&self, name: &str, line: &str) {
        let path = self.db.with_file_name(name);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Starts this test program again as a writer of the session.
    pub(crate) fn writer(&self, test: &str, session: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env("HERMES_TEST_WRITER", session)
            .env("HERMES_TEST_DB", &self.db)
            .env("HERMES_TEST_DURABILITY", if self.durability == Durability::Kill { "kill" } else { "power" })
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }
}

/// The body of a writer process; returns at once in a process that is not one.
pub(crate) fn write_until_killed() {
    let Ok(session) = std::env::var("HERMES_TEST_WRITER") else { return };
    let db = PathBuf::from(std::env::var("HERMES_TEST_DB").unwrap());
    let durability = match std::env::var("HERMES_TEST_DURABILITY").as_deref() {
        Ok("kill") => Durability::Kill,
        _ => Durability::PowerCut,
    };
    let scene = Scene { db, durability };
    let store = scene.shared();
    block_on(async {
        let id = session.clone();
        store
            .change(move |store| {
                if store.session(&id).is_err() {
                    store.create(&NewSession { id: Some(id.clone()), ..NewSession::from("test") })?;
                }
                store.mend(&id)
            })
            .await
            .unwrap();
        println!("ready");
        loop {
            turn(&scene, &store, &session).await;
        }
    });
}

/// One turn of an agent: a question, an answer with calls, the calls, their results, an answer.
async fn turn(scene: &Scene, store: &SessionStore, session: &str) {
    let id = session.to_owned();
    let before = store.look(move |store| store.history(&id)).await.unwrap();
    let number = before.iter().filter(|stored| stored.message.role == "user").count();
    let name = |call: usize| format!("{session}-t{number}-c{call}");
    let calls: Vec<_> = (0..CALLS)
        .map(|call| json!({ "id": name(call), "type": "function", "function": { "name": "poke", "arguments": "{}" } }))
        .collect();
    let asks = Message { tool_calls: Some(json!(calls)), ..Message::text("assistant", "let me look") };
    let id = session.to_owned();
    let question = Message::text("user", format!("question {number}"));
    store.change(move |store| store.append(&id, &[question, asks])).await.unwrap();

    let all: Vec<usize> = (0..CALLS).collect();
    for some in all.chunks(AT_ONCE) {
        join_all(some.iter().map(|call| one_call(scene, store, session, name(*call)))).await;
    }

    let results: Vec<Message> = (0..CALLS)
        .map(|call| Message { tool_call_id: Some(name(call)), ..Message::text("tool", body(&name(call))) })
        .chain([Message::text("assistant", "done")])
        .collect();
    let id = session.to_owned();
    store.change(move |store| store.append(&id, &results)).await.unwrap();
}

async fn one_call(scene: &Scene, store: &SessionStore, session: &str, name: String) {
    // Ids of the runtime begin anew in every process, as real ones do.
    let id = CallId::from(format!("{session}.{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    let arguments = Map::from_iter([("name".to_owned(), json!(name))]);
    let start =
        Starting { id: &id, given_id: &name, session, tool: "poke", arguments: &arguments, effects: &[] };
    store.starting(&start).await.unwrap();
    scene.note("effects", &name);
    let outcome = Outcome {
        id,
        given_id: name.clone(),
        tool: "poke".into(),
        status: Status::Ok,
        body: body(&name),
        spilled: None,
        attachments: Vec::new(),
        notes: Vec::new(),
        took: Duration::ZERO,
    };
    store.finished(session, &outcome).await.unwrap();
    scene.note("safe", &name);
}

fn body(name: &str) -> String {
    json!({ "result": name, "padding": "x".repeat(300) }).to_string()
}

/// Checks everything that must hold after a kill at any instant, and tells what it found to mend.
pub(crate) fn check(scene: &Scene, sessions: &[String]) -> Mended {
    let store = scene.open();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let mut found = Mended::default();
    let (mut begun, mut finished) = (BTreeMap::new(), BTreeSet::new());
    for session in sessions.iter().filter(|id| store.session(id).is_ok()) {
        for record in store.calls(session).unwrap() {
            assert!(begun.insert(record.given_id.clone(), record.state).is_none(), "begun twice: {record:?}");
            match record.state {
                CallState::Finished => {
                    assert_eq!(record.body.as_deref(), Some(body(&record.given_id).as_str()));
                    finished.insert(record.given_id);
                }
                CallState::Interrupted => assert!(record.body.is_none() && record.arguments.is_some()),
                CallState::Starting => panic!("left as running: {record:?}"),
            }
        }
        let mended = store.mend(session).unwrap();
        found.finished += mended.finished;
        found.interrupted += mended.interrupted;
        found.not_started += mended.not_started;
        every_call_has_one_answer(&store, session);
        assert_eq!(store.mend(session).unwrap(), Mended::default());
    }
    let mut done = BTreeSet::new();
    for name in scene.lines("effects") {
        assert!(begun.contains_key(&name), "had an effect and no record: {name}");
        assert!(done.insert(name.clone()), "ran twice: {name}");
    }
    for name in scene.lines("safe") {
        assert!(finished.contains(&name), "was told to be safe and is gone: {name}");
    }
    found
}

/// Of a mended conversation: each call has exactly one result, and a finished one its own.
fn every_call_has_one_answer(store: &Sessions, session: &str) {
    let mut results: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut asked = Vec::new();
    for stored in store.messages(session).unwrap() {
        let message = stored.message;
        for call in message.tool_calls.iter().flat_map(|calls| calls.as_array().unwrap()) {
            asked.push(call["id"].as_str().unwrap().to_owned());
        }
        if let Some(id) = message.tool_call_id {
            let text = message.content.as_ref().map(Content::text).unwrap();
            results.entry(id).or_default().push(text);
        }
    }
    let states: BTreeMap<String, CallState> =
        store.calls(session).unwrap().into_iter().map(|record| (record.given_id, record.state)).collect();
    assert_eq!(asked.len(), results.len());
    for id in asked {
        let [result] = results[&id].as_slice() else { panic!("{id} has {} results", results[&id].len()) };
        match states.get(&id) {
            Some(CallState::Finished) => assert_eq!(*result, body(&id)),
            Some(_) => assert!(result.contains("is not known"), "{result}"),
            None => assert!(result.contains("did not run"), "{result}"),
        }
    }
}
