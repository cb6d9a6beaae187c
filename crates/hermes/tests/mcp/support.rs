//! A runtime on a temporary home with servers in its configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::store::Home;
use hermes::{Outcome, Runtime, RuntimeBuilder, Session, ToolCall};
use serde_json::{Value, json};

/// Says yes to everything.
pub(crate) struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// A folder with a user's home, a state folder and a place to work.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    /// With these servers.
    pub(crate) fn with(servers: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["user", "home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let bench = Self { dir };
        bench.configure(servers);
        bench
    }

    /// With the scripted server, and more in its configuration.
    pub(crate) fn scripted(more: &Value) -> Self {
        let bench = Self::with(&json!({}));
        bench.configure(&json!({ "s": bench.script(&[], more) }));
        bench
    }

    /// The scripted server's configuration.
    pub(crate) fn script(&self, words: &[&str], more: &Value) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/scripted.py");
        let mut args = vec![json!(script), json!(self.notes_file())];
        args.extend(words.iter().map(|word| json!(word)));
        let mut server = json!({ "command": "python3", "args": args });
        for (key, value) in more.as_object().unwrap() {
            server[key] = value.clone();
        }
        server
    }

    /// Writes the configuration anew; JSON is YAML.
    pub(crate) fn configure(&self, servers: &Value) {
        let text = json!({ "mcp_servers": servers, "mcp_discovery_timeout": 20 }).to_string();
        std::fs::write(self.dir.path().join("home/config.yaml"), text).unwrap();
    }

    /// Changes what is written of the server `s`.
    pub(crate) fn reconfigure(&self, change: impl FnOnce(&mut Value)) {
        self.rewrite(|config| change(&mut config["mcp_servers"]["s"]));
    }

    /// A start waits for new servers as long as it does where nothing is said about it.
    pub(crate) fn wait_as_usual(&self) {
        self.rewrite(|config| _ = config.as_object_mut().unwrap().remove("mcp_discovery_timeout"));
    }

    /// Names a model, which nobody is going to reach.
    pub(crate) fn name_a_model(&self) {
        let model = json!({
            "default": "m", "provider": "custom", "base_url": "http://127.0.0.1:9/v1", "api_key": "k",
            "context_length": 200_000,
        });
        self.rewrite(|config| config["model"] = model);
    }

    fn rewrite(&self, change: impl FnOnce(&mut Value)) {
        let file = self.dir.path().join("home/config.yaml");
        let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        change(&mut config);
        std::fs::write(file, config.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn notes_file(&self) -> PathBuf {
        self.path("notes")
    }

    /// What the scripted server really did.
    pub(crate) fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.notes_file()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often it did this.
    pub(crate) fn count(&self, note: &str) -> usize {
        self.notes().iter().filter(|line| *line == note).count()
    }

    pub(crate) fn builder(&self) -> RuntimeBuilder {
        let user = self.path("user");
        let path = std::env::var("PATH").unwrap();
        let env =
            [("HOME", user.to_str().unwrap()), ("PATH", &path), ("SECRET_API_KEY", "k"), ("LANG", "C.UTF-8")];
        Runtime::builder()
            .cwd(self.path("work"))
            .user_home(&user)
            .home(Home::at(&self.path("home")))
            .env(env.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .policy(Everything)
    }

    /// A runtime whose servers have been waited for.
    pub(crate) fn runtime(&self) -> Runtime {
        let runtime = self.builder().build().unwrap();
        runtime.mcp().ready_blocking();
        runtime
    }

    pub(crate) fn session(&self) -> Session {
        self.runtime().session().open().unwrap()
    }
}

pub(crate) fn call(session: &Session, tool: &str, arguments: &Value) -> Outcome {
    session.call_blocking(ToolCall::new(tool, arguments.to_string()))
}

/// What the model reads, out of its wrapping.
pub(crate) fn told(outcome: &Outcome) -> Value {
    let body: Value = serde_json::from_str(&outcome.body).unwrap();
    body.get("data").cloned().unwrap_or(body)
}

/// The text of a result or of an error.
pub(crate) fn words(outcome: &Outcome) -> String {
    let told = told(outcome);
    let text = told.get("result").or_else(|| told.get("error")).cloned().unwrap_or(told);
    text.as_str().map_or_else(|| text.to_string(), str::to_owned)
}

/// Waits until something is so; a test that waits in vain fails.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    until_within(15, what, so);
}

/// The same, for so many seconds.
pub(crate) fn until_within(seconds: u32, what: &str, so: impl Fn() -> bool) {
    for _ in 0..seconds * 100 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("in vain: {what}");
}

/// Whether a process of that number runs.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}
