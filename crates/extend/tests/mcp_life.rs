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

use futures::future::BoxFuture;
use hermes_core::session::Place;
use hermes_extend::launch::{Keeper, Launch, LaunchError, Launched, Program};
use hermes_extend::mcp::client::{Kept, Mark, Outside, Server, Status, Vault, server};
use hermes_net::Http;
use hermes_testkit::FakeHost;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The other side, and what it has heard.
#[derive(Default)]
struct Peer {
    heard: Mutex<Vec<String>>,
    tools: Mutex<Vec<&'static str>>,
    /// It hears and says nothing.
    mute: AtomicBool,
    /// It answers a ping with an error.
    knows_no_ping: AtomicBool,
    starts: AtomicUsize,
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
        let result = match method.as_str() {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "thread", "version": "1" },
            }),
            "tools/list" => {
                json!({ "tools": self.tools.lock().unwrap().iter().map(one).collect::<Vec<_>>() })
            }
            "ping" if !self.knows_no_ping.load(Ordering::Acquire) => json!({}),
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                return self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
        };
        self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }

    fn count(&self, method: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|heard| *heard == method).count()
    }
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
        *self.0.out.lock().unwrap() = Some(ours);
        self.0.starts.fetch_add(1, Ordering::AcqRel);
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
}

struct Scene {
    peer: Arc<Peer>,
    server: Server,
    host: Arc<FakeHost>,
    _runtime: Runtime,
}

impl Scene {
    /// A server that runs and has nothing to do.
    fn idle() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let peer = Arc::new(Peer { tools: Mutex::new(vec!["echo"]), ..Peer::default() });
        let (host, handle) = (FakeHost::new(), runtime.handle().clone());
        let outside = Outside {
            launcher: Arc::new(Threads(Arc::clone(&peer))),
            http: Http::from_env(|_| None),
            host: host.clone(),
            runtime: Box::new(move || Some(handle.clone())),
            vault: Arc::new(Nowhere),
            place: Place { cwd: PathBuf::from("/"), home: None },
            person: None,
        };
        let config = server("s", &json!({ "command": "thread" })).unwrap();
        let server = Server::new(config, Arc::new(outside));
        runtime.block_on(server.start()).unwrap();
        Self { peer, server, host, _runtime: runtime }
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
    assert_eq!(scene.peer.starts.load(Ordering::Acquire), 1);
}

#[test]
fn a_server_that_knows_no_such_question_is_there_all_the_same() {
    let scene = Scene::idle();
    scene.peer.knows_no_ping.store(true, Ordering::Release);

    scene.until("it is asked", |scene| scene.peer.count("ping") == 2);

    assert_eq!(scene.server.status(), Status::Connected);
    assert_eq!(scene.peer.starts.load(Ordering::Acquire), 1);
}

#[test]
fn a_server_that_no_longer_answers_is_let_go_and_started_again() {
    let scene = Scene::idle();
    scene.peer.mute.store(true, Ordering::Release);

    scene.until("it is given up", |scene| scene.server.status() != Status::Connected);
    scene.peer.mute.store(false, Ordering::Release);
    scene.until("it is back", |scene| scene.server.status() == Status::Connected);

    assert_eq!(scene.peer.count("ping"), 1);
    assert_eq!(scene.peer.starts.load(Ordering::Acquire), 2);
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
