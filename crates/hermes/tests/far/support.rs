//! A home whose configuration names places elsewhere.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Session, ToolCall};
use serde_json::{Value, json};

/// Says yes to everything.
pub(crate) struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// A folder with a user's home, a state folder with its configuration, and a place to work.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(terminal: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["user", "home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let bench = Self { dir };
        bench.configure(&json!({ "terminal": terminal }));
        bench
    }

    pub(crate) fn configure(&self, config: &Value) {
        std::fs::write(self.path("home/config.yaml"), config.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// With the policy of the configuration.
    pub(crate) fn guarded(&self) -> RuntimeBuilder {
        builder(&self.path(""))
    }

    pub(crate) fn runtime(&self) -> Runtime {
        self.guarded().policy(Everything).build().unwrap()
    }
}

/// A runtime on the folders of a bench, which another process may have made.
pub(crate) fn builder(dir: &std::path::Path) -> RuntimeBuilder {
    let user = dir.join("user");
    let clients = ["DOCKER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"]
        .map(|name| (name.to_owned(), std::env::var(name).unwrap_or_default()));
    let env =
        [("HOME", user.to_str().unwrap()), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];
    // The keys that doubles of vendors take.
    let keys = [
        ("DAYTONA_API_KEY", "right"),
        ("MODAL_TOKEN_ID", "right"),
        ("MODAL_TOKEN_SECRET", "right"),
        ("VERCEL_TOKEN", "right"),
        ("VERCEL_TEAM_ID", "team"),
        ("VERCEL_PROJECT_ID", "project"),
    ];
    let env = env.into_iter().chain(keys).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Runtime::builder()
        .cwd(dir.join("work"))
        .user_home(&user)
        .home(Home::at(&dir.join("home")))
        .env(env.chain(clients).filter(|(_, value)| !value.is_empty()))
}

/// What a call of a tool answers.
pub(crate) fn call(session: &Session, tool: &str, arguments: &Value) -> Value {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    serde_json::from_str(&outcome.body).unwrap()
}

/// What a command writes.
pub(crate) fn output(session: &Session, command: &str) -> String {
    let answer = call(session, "terminal", &json!({ "command": command }));
    assert_eq!(answer["exit_code"], 0, "{answer}");
    answer["output"].as_str().unwrap().to_owned()
}

/// An engine, its client and its images, with bash and without.
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) client: String,
    pub(crate) image: String,
    pub(crate) plain: String,
}

impl Engine {
    /// The engines that are here; CI wants all of them.
    pub(crate) fn all() -> Vec<Self> {
        ["docker", "podman"].into_iter().filter_map(Self::here).collect()
    }

    fn here(name: &'static str) -> Option<Self> {
        let given = |what: &str| std::env::var(format!("HERMES_TEST_{}{what}", name.to_uppercase())).ok();
        let engine = || {
            Some(Self { name, client: given("")?, image: given("_IMAGE")?, plain: given("_PLAIN_IMAGE")? })
        };
        let found = engine();
        assert!(found.is_some() || std::env::var("CI").is_err(), "{name} must be here in CI");
        if found.is_none() {
            eprintln!("NOT RUN: {name} is not here, nothing was tried (see scripts/testbeds/{name})");
        }
        found
    }

    /// Settings of a place that leaves nothing.
    pub(crate) fn section(&self, more: &Value) -> Value {
        let mut section = json!({
            "backend": self.name, "image": self.image, "binary": self.client, "persistent": false,
            "persist_across_processes": false, "network": false,
        });
        section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        section
    }

    /// What the client says to these words.
    pub(crate) fn told(&self, words: &[&str]) -> String {
        let said = Command::new(&self.client).args(words).output().unwrap();
        assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }

    /// The containers of a place, each with its state: `Up` or `Exited`.
    pub(crate) fn containers(&self, place: &str) -> Vec<String> {
        let label = format!("label=hermes-task-id={place}");
        let said = self.told(&["ps", "-a", "--filter", &label, "--format", "{{.ID}} {{.Status}}"]);
        // Up and since when, or exited and how.
        let state = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        said.lines().map(state).collect()
    }
}

/// Settings of an instance that leaves nothing; nothing where there is no Apptainer, which CI does not take
/// for an answer.
pub(crate) fn instance() -> Option<Value> {
    let given = |name: &str| std::env::var(format!("HERMES_TEST_APPTAINER{name}")).ok();
    let Some((program, image)) = given("").zip(given("_IMAGE")) else {
        assert!(std::env::var("CI").is_err(), "apptainer must be here in CI");
        eprintln!("NOT RUN: apptainer is not here, nothing was tried (see scripts/testbeds/apptainer)");
        return None;
    };
    Some(json!({ "backend": "singularity", "image": image, "binary": program, "persistent": false }))
}

/// A name for a place that no other test has.
pub(crate) fn fresh(name: &str) -> String {
    format!("{name}{}", std::process::id())
}

/// Waits until something is so; a test that waits in vain fails.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
