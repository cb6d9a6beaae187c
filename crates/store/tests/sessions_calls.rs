//! Words about calls that wait beside the database: seen by everybody, taken over once, never lost.

#![expect(clippy::disallowed_methods, reason = "a test with real files, a real clock and real threads")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use futures::executor::block_on;
use futures::future::{BoxFuture, join_all};
use hermes_core::call::CallId;
use hermes_core::host::Host;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::{Outcome, Status};
use hermes_store::sessions::{
    CallRecord, CallState, Clock, Durability, Message, NewSession, Prune, SessionError, SessionStore,
    Sessions,
};
use serde_json::{Map, json};

struct Wall {
    began: Instant,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Wall {
    fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), threads: Mutex::default() })
    }

    /// Waits for the last of its threads.
    fn ended(&self) {
        let next = || self.threads.lock().unwrap().pop();
        while let Some(thread) = next() {
            thread.join().unwrap();
        }
    }
}

impl Clock for Wall {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Host for Wall {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.threads.lock().unwrap().push(std::thread::spawn(job));
    }
}

struct Scene {
    dir: tempfile::TempDir,
    store: SessionStore,
    wall: Arc<Wall>,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let wall = Wall::new();
    let (host, clock): (Arc<dyn Host>, Arc<dyn Clock>) = (wall.clone(), wall.clone());
    let store = SessionStore::new(&dir.path().join("hermes.db"), &host, &clock, Durability::Kill);
    let scene = Scene { dir, store, wall };
    block_on(
        scene.store.change(|store| {
            store.create(&NewSession { id: Some("s".to_owned()), ..NewSession::from("cli") })
        }),
    )
    .unwrap();
    scene
}

impl Scene {
    async fn begin(&self, id: &str) {
        let (id, arguments) = (CallId::from(id), Map::from_iter([("n".to_owned(), json!(1))]));
        let start = Starting {
            id: &id,
            given_id: id.as_str(),
            session: "s",
            tool: "poke",
            arguments: &arguments,
            effects: &[],
        };
        self.store.starting(&start).await.unwrap();
    }

    async fn end(&self, id: &str, body: &str) {
        let outcome = Outcome {
            id: CallId::from(id),
            given_id: id.to_owned(),
            tool: "poke".into(),
            status: Status::Ok,
            body: body.to_owned(),
            spilled: None,
            attachments: Vec::new(),
            notes: Vec::new(),
            took: Duration::from_millis(1),
        };
        self.store.finished("s", &outcome).await.unwrap();
    }

    async fn call(&self, id: &str) {
        self.begin(id).await;
        self.end(id, "{}").await;
    }

    /// Ends as a process that is killed: its locks are given back, and no thread of it goes on. One that has told
    /// what came of a change holds the store for a moment longer than whoever was told.
    fn killed(self) -> tempfile::TempDir {
        let Self { dir, store, wall } = self;
        drop(store);
        wall.ended();
        dir
    }

    /// Another process, as far as the files are concerned.
    fn other(&self) -> Sessions {
        let path = self.dir.path().join("hermes.db");
        Sessions::open(&path, Wall::new(), Durability::Kill).unwrap()
    }

    /// What is in the database itself.
    fn rows(&self) -> i64 {
        let db = rusqlite::Connection::open(self.dir.path().join("hermes.db")).unwrap();
        db.query_row("SELECT count(*) FROM calls", [], |row| row.get(0)).unwrap()
    }

    /// The logs, and how long each is.
    fn logs(&self) -> Vec<(PathBuf, u64)> {
        let folder = self.dir.path().join("hermes.db-owners");
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect()
    }
}

fn seen(calls: &[CallRecord]) -> Vec<(&str, CallState)> {
    calls.iter().map(|call| (call.id.as_str(), call.state)).collect()
}

#[test]
fn what_waits_is_seen_by_every_process_and_taken_over_with_the_next_change() {
    let scene = scene();
    block_on(async {
        scene.begin("s.1").await;
        scene.call("s.2").await;
    });
    assert_eq!(scene.rows(), 0);

    let expected = [("s.1", CallState::Starting), ("s.2", CallState::Finished)];
    assert_eq!(seen(&scene.other().calls("s").unwrap()), expected);
    assert_eq!(seen(&block_on(scene.store.look(|store| store.calls("s"))).unwrap()), expected);

    block_on(scene.end("s.1", "{\"late\":1}"));
    block_on(scene.store.change(|store| store.append("s", &[Message::text("user", "hi")]))).unwrap();
    assert_eq!(scene.rows(), 2);
    assert_eq!(scene.logs().iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [&0]);
    let calls = scene.other().calls("s").unwrap();
    assert_eq!(seen(&calls), [("s.1", CallState::Finished), ("s.2", CallState::Finished)]);
    assert_eq!(calls[0].body.as_deref(), Some("{\"late\":1}"));
    assert!(calls[0].started_at.unwrap() <= calls[0].ended_at.unwrap());
    assert_eq!(calls[0].arguments.as_ref().unwrap().len(), 1);
}

#[test]
fn a_change_that_is_taken_back_takes_no_word_with_it() {
    let scene = scene();
    block_on(scene.call("s.1"));

    let wrong = block_on(scene.store.change(|store| {
        assert_eq!(store.calls("s")?.len(), 1);
        store.append("nobody", &[Message::text("user", "hi")])
    }));

    assert!(matches!(wrong, Err(SessionError::Unknown { .. })));
    assert_eq!(seen(&scene.other().calls("s").unwrap()), [("s.1", CallState::Finished)]);
}

#[test]
fn words_of_a_process_that_is_gone_are_taken_over_by_the_next_one_with_their_file() {
    let scene = scene();
    block_on(async {
        scene.call("s.1").await;
        scene.begin("s.2").await;
    });
    let dir = scene.killed();
    let path = dir.path().join("hermes.db");
    assert!(std::fs::read_dir(dir.path().join("hermes.db-owners")).unwrap().count() == 1);

    let next = Sessions::open(&path, Wall::new(), Durability::Kill).unwrap();

    let expected = [("s.1", CallState::Finished), ("s.2", CallState::Interrupted)];
    assert_eq!(seen(&next.calls("s").unwrap()), expected);
    assert_eq!(std::fs::read_dir(dir.path().join("hermes.db-owners")).unwrap().count(), 0);
}

#[test]
fn a_log_that_was_cut_off_or_damaged_says_what_is_whole_in_it() {
    let scene = scene();
    block_on(join_all(["s.1", "s.2", "s.3"].map(|id| scene.call(id))));
    let dir = scene.killed();
    let folder = dir.path().join("hermes.db-owners");
    let log = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&log).unwrap();
    let lines: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
    assert_eq!(lines.len(), 6);
    // One letter of the end of the second call, and the end of the last line.
    let second = bytes.windows(9).rposition(|part| part == b"\"id\":\"s.2").unwrap();
    bytes[second + 8] = b'9';
    bytes.truncate(bytes.len() - 3);
    std::fs::write(&log, &bytes).unwrap();

    let path = dir.path().join("hermes.db");
    let next = Sessions::open(&path, Wall::new(), Durability::Kill).unwrap();

    let mut states: Vec<_> =
        seen(&next.calls("s").unwrap()).into_iter().map(|(id, state)| (id.to_owned(), state)).collect();
    states.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("s.1".to_owned(), CallState::Finished),
        ("s.2".to_owned(), CallState::Interrupted),
        ("s.3".to_owned(), CallState::Interrupted),
    ];
    assert_eq!(states, expected);
}

#[test]
fn many_words_do_not_wait_for_ever() {
    let scene = scene();
    let ids: Vec<String> = (0..3000).map(|number| format!("s.{number}")).collect();
    let speakers: Vec<_> = ids.chunks(750).map(<[String]>::to_vec).collect();

    std::thread::scope(|scope| {
        for some in &speakers {
            let scene = &scene;
            scope.spawn(move || {
                block_on(async {
                    for id in some {
                        scene.call(id).await;
                    }
                });
            });
        }
    });

    // The last few may still wait; most were taken over along the way.
    let until = Instant::now() + Duration::from_secs(20);
    while scene.rows() < 2000 && Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(scene.rows() >= 2000, "{}", scene.rows());
    let calls = scene.other().calls("s").unwrap();
    assert_eq!(calls.len(), 3000);
    assert!(calls.iter().all(|call| call.state == CallState::Finished && call.body.is_some()));
}

#[test]
fn a_call_that_waits_keeps_its_session_from_being_pruned_and_goes_with_it_when_it_is_deleted() {
    let scene = scene();
    block_on(scene.begin("s.1"));
    let other = scene.other();
    let all = Prune { before: SystemTime::now().into(), source: None };

    assert_eq!(other.prune(&all).unwrap(), Vec::<String>::new());
    block_on(scene.end("s.1", "{}"));
    block_on(scene.store.change(|store| store.delete("s"))).unwrap();

    assert_eq!(other.calls("s").unwrap(), []);
    assert_eq!(other.stats().unwrap().calls, 0);
}
