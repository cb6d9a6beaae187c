//! The store as many tasks share it: where changes are made, and what is one transaction.

#![expect(clippy::disallowed_methods, reason = "the test keeps time and starts threads like a host does")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{BoxFuture, join_all};
use hermes_core::host::Host;
use hermes_store::sessions::{
    Clock, Durability, Message, NewSession, SessionError, SessionStore, Sessions, Spender, Tokens,
};

/// A host that counts the threads it was asked for. Its clock goes on by a step when it is looked at.
struct Threads {
    step: Duration,
    looks: AtomicU32,
    asked: AtomicUsize,
}

impl Host for Threads {
    fn now(&self) -> Duration {
        self.step * self.looks.fetch_add(1, Ordering::Relaxed)
    }

    fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        std::thread::spawn(job);
    }
}

struct Wall;

impl Clock for Wall {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

struct Scene {
    dir: tempfile::TempDir,
    host: Arc<Threads>,
    store: SessionStore,
}

fn scene() -> Scene {
    scene_on(Duration::ZERO)
}

/// A store on a machine where a change takes a while.
fn scene_on(step: Duration) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let host = Arc::new(Threads { step, looks: AtomicU32::new(0), asked: AtomicUsize::new(0) });
    let as_host: Arc<dyn Host> = host.clone();
    let clock: Arc<dyn Clock> = Arc::new(Wall);
    let store = SessionStore::new(&dir.path().join("hermes.db"), &as_host, &clock, Durability::Kill);
    block_on(store.change(|sessions| {
        sessions.create(&NewSession { id: Some("s".to_owned()), ..NewSession::from("cli") })
    }))
    .unwrap();
    Scene { dir, host, store }
}

impl Scene {
    async fn say(&self, text: &str) -> Result<Vec<i64>, SessionError> {
        let message = Message::text("user", text);
        self.store.change(move |sessions| sessions.append("s", &[message])).await
    }

    fn said(&self) -> usize {
        block_on(self.store.look(|sessions| Ok(sessions.messages("s")?.len()))).unwrap()
    }

    fn threads(&self) -> usize {
        self.host.asked.load(Ordering::Relaxed)
    }
}

/// Another process, as far as the file is concerned.
fn other(folder: &Path) -> Sessions {
    Sessions::open(&folder.join("hermes.db"), Arc::new(Wall), Durability::Kill).unwrap()
}

/// How many of some changes were made on the thread that asked for them.
fn made_here(scene: &Scene, changes: usize) -> usize {
    let here = std::thread::current().id();
    let made = (0..changes).filter(|number| {
        let message = Message::text("user", number.to_string());
        let change = scene.store.change(move |sessions| {
            sessions.append("s", &[message])?;
            Ok(std::thread::current().id())
        });
        let there = block_on(change).unwrap() != here;
        if there {
            // Whoever comes back at once finds the thread still at its desk and is served there.
            std::thread::sleep(Duration::from_millis(5));
        }
        !there
    });
    let made = made.count();
    assert_eq!(scene.said(), changes);
    made
}

#[test]
fn most_changes_need_no_thread_and_some_go_to_one() {
    let made = made_here(&scene(), 200);

    assert!((100..198).contains(&made), "{made}");
}

#[test]
fn where_changes_are_slow_they_are_made_on_threads() {
    let made = made_here(&scene_on(Duration::from_millis(50)), 20);

    assert!(made <= 1, "{made}");
}

#[test]
fn a_change_waits_on_a_thread_while_another_process_writes() {
    let scene = scene();
    block_on(scene.say("first")).unwrap();
    let folder = scene.dir.path().to_owned();
    let (held, is_held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let db = rusqlite::Connection::open(folder.join("hermes.db")).unwrap();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        held.send(()).unwrap();
        released.recv().unwrap();
        db.execute_batch("COMMIT").unwrap();
    });
    is_held.recv().unwrap();
    let before = scene.threads();

    let mut change = Box::pin(scene.say("second"));
    assert!(change.as_mut().now_or_never().is_none());
    assert_eq!(scene.threads(), before + 1);
    release.send(()).unwrap();
    block_on(change).unwrap();

    writer.join().unwrap();
    assert_eq!(scene.said(), 2);
}

#[test]
fn what_one_change_does_is_done_whole_or_not_at_all() {
    let scene = scene();
    for _ in 0..3 {
        let wrong = block_on(scene.store.change(|sessions| {
            sessions.append("s", &[Message::text("user", "half")])?;
            sessions.add_usage("nobody", &Spender::default(), &Tokens::default())
        }));

        assert!(matches!(wrong, Err(SessionError::Unknown { .. })));
        assert_eq!(scene.said(), 0);
    }
    assert_eq!(other(scene.dir.path()).check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_change_that_panics_is_lost_alone() {
    let scene = scene();
    block_on(scene.say("first")).unwrap();

    let lost: Result<(), _> = block_on(scene.store.change(|_| panic!("broken")));
    assert!(matches!(lost, Err(SessionError::Lost)));
    block_on(scene.say("second")).unwrap();

    assert_eq!(scene.said(), 2);
}

#[test]
fn changes_of_many_threads_are_all_there() {
    let scene = Arc::new(scene());
    let speakers: Vec<_> = (0..8)
        .map(|speaker| {
            let scene = Arc::clone(&scene);
            std::thread::spawn(move || {
                let texts: Vec<String> = (0..50).map(|number| format!("{speaker} {number}")).collect();
                block_on(join_all(texts.iter().map(|text| scene.say(text))))
            })
        })
        .collect();
    for speaker in speakers {
        assert!(speaker.join().unwrap().iter().all(Result::is_ok));
    }

    assert_eq!(scene.said(), 400);
}

#[test]
fn what_is_opened_ahead_is_there_for_the_first_change_and_nothing_is_made_where_there_is_none() {
    let scene = scene();
    let file = scene.dir.path().join("hermes.db");
    let store = |path: &Path| {
        let host =
            Arc::new(Threads { step: Duration::ZERO, looks: AtomicU32::new(0), asked: AtomicUsize::new(0) });
        let (as_host, clock): (Arc<dyn Host>, Arc<dyn Clock>) = (host.clone(), Arc::new(Wall));
        (SessionStore::new(path, &as_host, &clock, Durability::Kill), host)
    };
    let nowhere = scene.dir.path().join("other.db");
    let (none, idle) = store(&nowhere);
    let (again, host) = store(&file);

    none.open_ahead();
    again.open_ahead();
    block_on(again.change(|sessions| sessions.append("s", &[Message::text("user", "hello")]))).unwrap();

    assert_eq!((idle.asked.load(Ordering::Relaxed), nowhere.exists()), (0, false));
    assert_eq!((host.asked.load(Ordering::Relaxed), scene.said()), (1, 1));
}
