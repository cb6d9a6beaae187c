//! An image that has to be fetched is told about meanwhile: from a real registry, on loopback.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use hermes::core::call::CallId;
use hermes::core::journal::Starting;
use hermes::core::outcome::Outcome;
use hermes::core::watch::Watcher;
use serde_json::json;

use crate::support::{Bench, Engine, fresh, output, until};

/// A registry with a small image.
struct Registry {
    child: Child,
    dir: tempfile::TempDir,
    image: String,
}

impl Registry {
    fn start(engine: &Engine) -> Option<Self> {
        let Ok(program) = std::env::var("HERMES_TEST_REGISTRY") else {
            assert!(std::env::var("CI").is_err(), "a registry must be here in CI");
            eprintln!("NOT RUN: there is no registry here (see scripts/testbeds/docker)");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: 127.0.0.1:{port}}}\n",
            dir.path().join("data").display()
        );
        std::fs::write(dir.path().join("config.yml"), config).unwrap();
        let child = Command::new(program)
            .arg("serve")
            .arg(dir.path().join("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let registry = Self { child, dir, image: format!("127.0.0.1:{port}/plain:1") };
        until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        // One layer more than the engine has already.
        let more = registry.dir.path().join("more");
        std::fs::write(&more, port.to_string().repeat(100_000)).unwrap();
        let made = engine.told(&["create", &engine.plain, "sh"]);
        engine.told(&["cp", more.to_str().unwrap(), &format!("{made}:/more")]);
        engine.told(&["commit", &made, &registry.image]);
        engine.told(&["rm", &made]);
        engine.told(&["push", "-q", &registry.image]);
        engine.told(&["rmi", &registry.image]);
        Some(registry)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Seen(Mutex<Vec<String>>);

impl Watcher for Seen {
    fn began(&self, _: &Starting<'_>) {}
    fn progress(&self, _: &CallId, words: &str) {
        self.0.lock().unwrap().push(words.to_owned());
    }
    fn ended(&self, _: &Outcome) {}
}

#[test]
fn how_far_an_image_is_fetched_reaches_the_live_line_and_whoever_tries_the_place() {
    Engine::all().iter().for_each(told);
}

fn told(engine: &Engine) {
    let Some(registry) = Registry::start(engine) else { return };
    let name = fresh("pulls");
    let section = engine.section(&json!({ "image": registry.image }));
    let bench = Bench::new(&json!({ "environments": { &name: section } }));
    let seen = Arc::new(Seen(Mutex::default()));
    let watcher: Arc<dyn Watcher> = seen.clone();
    let runtime = bench.runtime();
    let session = runtime.session().environment(&name).extension(watcher).open().unwrap();

    assert_eq!(output(&session, "echo there"), "there");

    let told = seen.0.lock().unwrap().clone();
    assert_eq!(told.first(), Some(&format!("fetching {}", registry.image)), "{told:?}");
    assert!(told.last().is_some_and(|words| words.ends_with(": 2 of 2 layers")), "{told:?}");
    // It is there now: nothing more is told.
    seen.0.lock().unwrap().clear();
    output(&session, "true");
    assert_eq!(*seen.0.lock().unwrap(), Vec::<String>::new());

    runtime.close_environment(&name, true).unwrap();
    engine.told(&["rmi", &registry.image]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&heard);
    let tell = move |words: &str| keep.lock().unwrap().push(words.to_owned());
    runtime.look_at_environment(&name, Arc::new(tell)).unwrap();
    assert!(heard.lock().unwrap().iter().any(|words: &String| words.contains("fetching")), "{heard:?}");
    runtime.close_environment(&name, true).unwrap();
    engine.told(&["rmi", &registry.image]);
}
