//! The life of an MCP server between calls: whether it is there is asked, what it says unasked is
//! heard. The other side is a thread of this test; time is what the test says it is.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the test is the other side of the pipes, and stops where something is wrong"
)]

use std::io::{BufRead as _, BufReader, PipeWriter, Write as _, pipe};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hermes_core::session::Place;
use hermes_extend::launch::{Keeper, Launch, LaunchError, Launched, Program};
use hermes_extend::mcp::client::{Kept, Mark, Outside, Server, Status, Vault, server};
use hermes_net::Http;
use hermes_testkit::FakeHost;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// How the other side takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Manner {
    /// As most servers do: what it does not know is an error.
    #[default]
    Plain,
    /// It ends when the first thing it hears is not what it expects.
    Strict,
    /// It says nothing before it hears what it expects.
    Silent,
    /// It knows the newest protocol only, and takes its time the first time.
    SlowAndNew,
    /// It ends once it has told its tools.
    Mayfly,
    /// It talks, and does not say which tools it has.
    Listless,
    /// Each page of its tools says that the same one follows.
    Circling,
    /// It cannot be started.
    Absent,
}

/// The other side, and what it has heard.
#[derive(Default)]
struct Peer {
    manner: Mutex<Manner>,
    heard: Mutex<Vec<String>>,
    tools: Mutex<Vec<&'static str>>,
    /// It hears and says nothing.
    mute: AtomicBool,
    /// It answers a ping with an error.
    knows_no_ping: AtomicBool,
    starts: AtomicUsize,
    /// It has heard the first words that all servers know.
    begun: AtomicBool,
    /// The question that it has not answered yet.
    unanswered: Mutex<Option<Value>>,
    out: Mutex<Option<PipeWriter>>,
}

impl Peer {
    fn say(&self, message: &Value) {
        if let Some(out) = self.out.lock().unwrap().as_mut() {
            // Nobody may listen any more.
            let _ = writeln!(out, "{message}");
        }
    }

    fn hear(&self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.heard.lock().unwrap().push(method.clone());
        if self.mute.load(Ordering::Acquire) || message["id"].is_null() {
            return;
        }
        let one = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let manner = *self.manner.lock().unwrap();
        let begun = self.begun.fetch_or(method == "initialize", Ordering::AcqRel) || method == "initialize";
        match manner {
            Manner::Strict if !begun => return *self.out.lock().unwrap() = None,
            Manner::Silent if !begun => return,
            Manner::SlowAndNew if method == "server/discover" => {
                if self.starts.load(Ordering::Acquire) == 1 {
                    *self.unanswered.lock().unwrap() = Some(message["id"].clone());
                } else {
                    self.say(&discovered(&message["id"]));
                }
                return;
            }
            Manner::SlowAndNew if method == "initialize" => {
                if let Some(id) = self.unanswered.lock().unwrap().take() {
                    self.say(&discovered(&id));
                }
            }
            _ => {}
        }
        let result = match method.as_str() {
            "initialize" if manner != Manner::SlowAndNew => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "thread", "version": "1" },
            }),
            "tools/list" if manner == Manner::Listless => return,
            "tools/list" if manner == Manner::Circling => {
                let tools: Vec<_> = self.tools.lock().unwrap().iter().map(one).collect();
                json!({ "tools": tools, "nextCursor": "2" })
            }
            "tools/list" => {
                let tools: Vec<_> = self.tools.lock().unwrap().iter().map(one).collect();
                json!({ "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" })
            }
            "ping" if !self.knows_no_ping.load(Ordering::Acquire) => json!({}),
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                return self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
        };
        self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        if manner == Manner::Mayfly && method == "tools/list" {
            *self.out.lock().unwrap() = None;
        }
    }

    fn starts(&self) -> usize {
        self.starts.load(Ordering::Acquire)
    }

    fn count(&self, method: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|heard| *heard == method).count()
    }
}

/// The answer of a server that knows the newest protocol.
fn discovered(id: &Value) -> Value {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        "ttlMs": 0, "cacheScope": "private",
    });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// "Starts" the other side.
struct Threads(Arc<Peer>);

impl Launch for Threads {
    fn launch(&self, _program: &Program) -> Result<Launched, LaunchError> {
        let ((theirs, input), (output, ours), (errors, _)) =
            (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
        let ends = [OwnedFd::from(input), output.into(), errors.into()];
        for end in &ends {
            rustix::io::ioctl_fionbio(end, true).unwrap();
        }
        let [input, output, errors] = ends;
        self.0.starts.fetch_add(1, Ordering::AcqRel);
        if *self.0.manner.lock().unwrap() == Manner::Absent {
            return Err(LaunchError { program: "thread".to_owned(), why: "it is not there".to_owned() });
        }
        *self.0.out.lock().unwrap() = Some(ours);
        self.0.begun.store(false, Ordering::Release);
        let peer = Arc::clone(&self.0);
        std::thread::spawn(move || {
            for line in BufReader::new(theirs).lines() {
                let Ok(line) = line else { return };
                peer.hear(&serde_json::from_str(&line).unwrap());
            }
        });
        Ok(Launched { input, output, errors, keeper: Box::new(Life) })
    }
}

struct Life;

impl Keeper for Life {
    fn pid(&self) -> u32 {
        1
    }

    fn ended(&self) -> BoxFuture<'static, String> {
        Box::pin(std::future::ready("it ended".to_owned()))
    }

    fn stop(&self, _grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Keeps nothing.
struct Nowhere;

impl Vault for Nowhere {
    fn read(&self, _server: &str, _what: Kept) -> Option<String> {
        None
    }

    fn write(&self, _server: &str, _what: Kept, _text: &str) -> Result<(), String> {
        Ok(())
    }

    fn update(
        &self,
        _server: &str,
        _what: Kept,
        with: &mut dyn FnMut(Option<String>) -> Option<String>,
    ) -> Result<Option<Mark>, String> {
        with(None);
        Ok(None)
    }

    fn mark(&self, _server: &str, _what: Kept) -> Option<Mark> {
        None
    }

    fn remove(&self, _server: &str, _what: Kept) {}

    fn keep_media(&self, _session: &str, _name: &str, _ending: &str, _bytes: &[u8]) -> Option<PathBuf> {
        None
    }

    fn log(&self, _server: &str, _line: &str) {}

    fn cleared(&self, words: &str) -> String {
        words.to_owned()
    }
}

struct Scene {
    peer: Arc<Peer>,
    server: Server,
    host: Arc<FakeHost>,
    runtime: Runtime,
}

impl Scene {
    /// A server that runs and has nothing to do.
    fn idle() -> Self {
        let scene = Self::new(Manner::Plain);
        scene.runtime.block_on(scene.server.start()).unwrap();
        scene
    }

    /// A server that has just been told to start.
    fn starting(manner: Manner) -> Self {
        let scene = Self::new(manner);
        let server = scene.server.clone();
        drop(scene.runtime.spawn(async move { drop(server.start().await) }));
        scene
    }

    fn new(manner: Manner) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (manner, tools) = (Mutex::new(manner), Mutex::new(vec!["echo"]));
        let peer = Arc::new(Peer { manner, tools, ..Peer::default() });
        let (host, handle) = (FakeHost::new(), runtime.handle().clone());
        let outside = Outside {
            launcher: Arc::new(Threads(Arc::clone(&peer))),
            http: Http::from_env(|_| None),
            host: host.clone(),
            runtime: Box::new(move || Some(handle.clone())),
            vault: Arc::new(Nowhere),
            place: Place { cwd: PathBuf::from("/"), home: None },
            person: None,
            ring: Arc::default(),
            asked: Arc::default(),
        };
        let config = server("s", &json!({ "command": "thread" })).unwrap();
        let server = Server::new(config, Arc::new(outside));
        Self { peer, server, host, runtime }
    }

    /// Lets time pass until something is so.
    fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            if so(self) {
                return;
            }
            self.host.advance(Duration::from_millis(100));
            std::thread::sleep(Duration::from_micros(200));
        }
        panic!("in vain: {what}");
    }

    /// Waits for something that happens without any time passing, however long the machine takes for it.
    fn at_once(&self, what: &str, so: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            if so(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("in vain: {what}");
    }

    /// Lets so much time pass, in steps in which everybody gets a chance.
    fn pass(&self, seconds: u32) {
        for _ in 0..seconds * 2 {
            self.host.advance(Duration::from_millis(500));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn tools(&self) -> Vec<String> {
        self.server.known().tools.iter().map(|tool| tool.name.clone()).collect()
    }
}

#[test]
fn a_server_with_nothing_to_do_is_asked_now_and_then_whether_it_is_there() {
    let scene = Scene::idle();
    assert_eq!(scene.peer.count("ping"), 0);

    scene.until("it is asked", |scene| scene.peer.count("ping") == 1);
    scene.until("it is asked again", |scene| scene.peer.count("ping") == 2);

    assert_eq!(scene.server.status(), Status::Connected);
    assert_eq!(scene.peer.starts(), 1);
}

#[test]
fn a_server_that_knows_no_such_question_is_there_all_the_same() {
    let scene = Scene::idle();
    scene.peer.knows_no_ping.store(true, Ordering::Release);

    scene.until("it is asked", |scene| scene.peer.count("ping") == 2);

    assert_eq!(scene.server.status(), Status::Connected);
    assert_eq!(scene.peer.starts(), 1);
}

#[test]
fn a_server_that_no_longer_answers_is_let_go_and_started_again() {
    let scene = Scene::idle();
    scene.peer.mute.store(true, Ordering::Release);

    scene.until("it is given up", |scene| scene.server.status() != Status::Connected);
    scene.peer.mute.store(false, Ordering::Release);
    scene.until("it is back", |scene| scene.server.status() == Status::Connected);

    assert_eq!(scene.peer.count("ping"), 1);
    assert_eq!(scene.peer.starts(), 2);
}

#[test]
fn a_changed_list_of_tools_is_heard_while_nothing_runs() {
    let scene = Scene::idle();
    let before = scene.server.generation();
    assert_eq!(scene.tools(), ["echo"]);

    scene.peer.tools.lock().unwrap().push("new");
    scene.peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    scene.until("it is heard", |scene| scene.server.generation() > before);

    assert_eq!(scene.tools(), ["echo", "new"]);
    assert_eq!(scene.peer.count("tools/list"), 2);
}

#[test]
fn a_program_that_ends_at_a_question_it_does_not_know_is_started_again_and_asked_as_it_expects() {
    let scene = Scene::starting(Manner::Strict);

    scene.until("it works", |scene| scene.server.status() == Status::Connected);

    assert_eq!((scene.peer.starts(), scene.tools()), (2, vec!["echo".to_owned()]));
    assert_eq!(scene.peer.heard.lock().unwrap().get(..2).unwrap(), ["server/discover", "initialize"]);
}

#[test]
fn a_program_that_is_silent_at_a_question_it_does_not_know_is_soon_asked_as_it_expects() {
    let soon = Duration::from_secs(5);
    let scene = Scene::starting(Manner::Silent);

    scene.at_once("it is asked", |scene| scene.peer.count("server/discover") == 1);
    scene.at_once("its answer is not waited for long", |scene| {
        scene.host.until_sleeping(soon).now_or_never().is_some()
    });
    scene.host.advance(soon);
    scene.at_once("it works", |scene| scene.server.status() == Status::Connected);

    assert_eq!(scene.peer.starts(), 1);
}

#[test]
fn a_slow_program_that_knows_the_newest_protocol_only_is_heard_all_the_same() {
    let scene = Scene::starting(Manner::SlowAndNew);

    scene.until("it works", |scene| scene.server.status() == Status::Connected);

    assert_eq!(scene.tools(), ["echo"]);
    assert_eq!((scene.peer.starts(), scene.server.known().protocol.as_str()), (2, "2026-07-28"));
}

#[test]
fn a_server_that_starts_well_and_ends_each_time_is_started_a_few_times_only() {
    let scene = Scene::starting(Manner::Mayfly);

    scene.until("it has ended", |scene| scene.peer.starts() == 2);
    scene.pass(600);

    assert_eq!(scene.peer.starts(), 6);
}

#[test]
fn a_first_start_that_failed_is_tried_again() {
    let scene = Scene::starting(Manner::Absent);

    scene.until("it has failed", |scene| matches!(scene.server.status(), Status::Failed(_)));
    *scene.peer.manner.lock().unwrap() = Manner::Plain;
    scene.until("it works", |scene| scene.server.status() == Status::Connected);

    assert_eq!(scene.tools(), ["echo"]);
}

#[test]
fn a_server_that_lasted_for_a_while_is_started_again_however_often_it_ends() {
    let scene = Scene::idle();

    for round in 2..12 {
        scene.pass(61);
        *scene.peer.out.lock().unwrap() = None;
        scene.until("it is back", |scene| scene.peer.starts() == round);
        scene.until("it works", |scene| scene.server.status() == Status::Connected);
    }
}

#[test]
fn a_server_that_talks_and_does_not_list_its_tools_in_time_is_told_as_that() {
    let scene = Scene::starting(Manner::Listless);

    scene.until("it has failed", |scene| matches!(scene.server.status(), Status::Failed(_)));

    let Status::Failed(why) = scene.server.status() else { panic!("it has failed") };
    assert_eq!(why, "it began to talk, and did not list its tools within 60 s");
}

#[test]
fn pages_of_tools_that_repeat_are_asked_for_once_and_told() {
    let scene = Scene::new(Manner::Circling);

    scene.runtime.block_on(scene.server.start()).unwrap();

    assert_eq!((scene.peer.count("tools/list"), scene.tools()), (2, vec!["echo".to_owned()]));
    assert_eq!(
        scene.server.notes(),
        ["the pages in which it lists its tools repeat: what the first ones list is taken, 1 in all"]
    );
}
