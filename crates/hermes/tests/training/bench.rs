//! A home, a checkout of stand-ins, a double of Weights & Biases, and sessions on them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hermes::guard::Mode;
use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, Session, ToolCall};
use serde_json::{Value, json};

/// Keys, which must stand nowhere afterwards.
const SECRETS: [(&str, &str); 3] = [
    ("TINKER_API_KEY", "tinker-secret"),
    ("WANDB_API_KEY", "wandb-secret"),
    ("OPENROUTER_API_KEY", "sk-or-secret"),
];

/// Programs are started one after the other without long pauses.
const QUICK: &str = "rl: { waits: { api: 0.4, trainer: 0.4, env: 0.4 } }\n";

/// Weights & Biases.
pub(crate) struct Double {
    child: Child,
    port: u16,
}

impl Double {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doubles/wandb.py");
        let mut child = Command::new("python3")
            .arg("-B")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    /// The next question is answered so.
    pub(crate) fn next(&self, status: u16, body: &Value) {
        let body = json!({ "status": status, "body": body }).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = "POST /__next HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json";
        stream
            .write_all(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .unwrap();
        stream.read_to_string(&mut String::new()).unwrap();
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    pub(crate) double: Double,
}

impl Bench {
    pub(crate) fn new(config: &str) -> Self {
        Self::with_variables(config, &[])
    }

    /// With this configuration, and some variables that are other than usual.
    pub(crate) fn with_variables(config: &str, others: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().join("home/tinker-atropos");
        let stand_ins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/training/checkout");
        copy(&stand_ins, &checkout);
        std::fs::create_dir_all(checkout.join(".venv")).unwrap();
        std::fs::rename(checkout.join("bin"), checkout.join(".venv/bin")).unwrap();
        let config = if config.is_empty() { QUICK } else { config };
        std::fs::write(folder.path().join("home/config.yaml"), config).unwrap();
        let double = Double::start();
        let path = "/usr/local/bin:/usr/bin:/bin";
        let usual = SECRETS.iter().copied().chain([("PATH", path), ("LANG", "C.UTF-8")]);
        let mut variables: Vec<(String, String)> =
            usual.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        variables.push(("WANDB_BASE_URL".to_owned(), format!("http://127.0.0.1:{}", double.port)));
        for (name, value) in others {
            variables.retain(|(known, _)| known != name);
            variables.push(((*name).to_owned(), (*value).to_owned()));
        }
        Self { folder, variables, double }
    }

    fn builder(&self) -> RuntimeBuilder {
        let home = Home::at(&self.folder.path().join("home"));
        Runtime::builder().cwd(self.folder.path()).home(home).env(self.variables.clone()).mode(Mode::Off)
    }

    pub(crate) fn session(&self) -> Session {
        self.builder().build().unwrap().session().open().unwrap()
    }

    pub(crate) fn in_mode(&self, mode: Mode) -> Session {
        self.builder().mode(mode).build().unwrap().session().open().unwrap()
    }

    /// A session whose background jobs outlive the runtime.
    pub(crate) fn with_keeper(&self) -> Session {
        let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        let words = [own.as_str(), "--exact", "keeper_process", "--ignored", "--nocapture"];
        self.builder().keeper(words.map(str::to_owned)).build().unwrap().session().open().unwrap()
    }

    pub(crate) fn checkout(&self) -> PathBuf {
        self.folder.path().join("home/tinker-atropos")
    }

    /// What a stand-in has noted.
    pub(crate) fn noted(&self, name: &str) -> String {
        std::fs::read_to_string(self.checkout().join(name)).unwrap_or_default()
    }

    fn record(&self, id: &str) -> Value {
        let path = self.folder.path().join(format!("home/logs/rl_training/run_{id}.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// The processes of a run.
    pub(crate) fn pids(&self, id: &str) -> Vec<String> {
        let record = self.record(id);
        record["parts"].as_object().unwrap().values().map(|part| part["pid"].to_string()).collect()
    }

    /// Waits until a run stands so.
    pub(crate) fn until_status(&self, session: &Session, id: &str, status: &str) {
        let listed = || call(session, "rl_list_runs", &json!({}));
        let stands = || {
            let runs = listed();
            let run = runs["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == id).cloned();
            run.is_some_and(|run| run["status"] == status)
        };
        for _ in 0..300 {
            if stands() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{id} is not {status}: {}", self.record(id));
    }

    /// Everything in the home, but for what the person wrote there.
    pub(crate) fn everything_written(&self) -> String {
        let mut all = String::new();
        gather(&self.folder.path().join("home"), &mut all);
        all
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
            if from.parent().is_some_and(|folder| folder.ends_with("bin")) {
                std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }
}

fn gather(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The stand-ins themselves know what they look for.
        if path.is_dir() {
            gather(&path, all);
        } else if path.extension().is_none_or(|ending| ending != "py") {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()));
        }
    }
}

/// What a call answers, without the frame around words of strangers.
pub(crate) fn call(session: &Session, tool: &str, arguments: &Value) -> Value {
    let outcome = session.call_blocking(ToolCall::new(tool, arguments.to_string()));
    let mut body: Value = serde_json::from_str(&outcome.body).unwrap();
    if body["untrusted"] == true { body["data"].take() } else { body }
}

/// Whether a process of that number runs.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Waits until something is so; a test that waits in vain fails.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..300 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("in vain: {what}");
}

/// Starts a run, and says its id.
pub(crate) fn started(session: &Session) -> String {
    let started = call(session, "rl_start_training", &json!({}));
    started["run_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
}
