//! Doubles of services, a runtime that is pointed at them, and what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::store::Home;
use hermes::{Runtime, RuntimeBuilder, ToolCall};
use serde_json::{Value, json};

/// A service's double: a process of its own, stopped with the test.
pub(crate) struct Double {
    child: Child,
    port: u16,
}

impl Double {
    /// Starts `doubles/NAME.py`.
    pub(crate) fn of(name: &str) -> Self {
        let mut child = Command::new("python3")
            .arg("-B")
            .arg(doubles().join(format!("{name}.py")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    /// An address on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it was asked since this was last looked at.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.http("GET", "/__log", &Value::Null).as_array().unwrap().clone()
    }

    /// The same, each as its method and path.
    pub(crate) fn paths(&self) -> Vec<String> {
        let told = |asked: &Value| {
            format!("{} {}", asked["method"].as_str().unwrap(), asked["path"].as_str().unwrap())
        };
        self.asked().iter().map(told).collect()
    }

    /// The next question is answered so.
    pub(crate) fn next(&self, status: u16, headers: &Value, body: &Value) {
        self.http("POST", "/__next", &json!({ "status": status, "headers": headers, "body": body }));
    }

    /// Asks it directly.
    pub(crate) fn http(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bot good-token\r\n\
             User-Agent: DiscordBot (test)\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Lets the service's own client use the double at this path, and says what it asked; nothing where the client is
    /// not there, which is a failure in CI.
    pub(crate) fn asked_by_vendor(&self, script: &str, path: &str) -> Option<Vec<Value>> {
        let python = testbed("VENDOR_PYTHON", "vendor-clients")?;
        let run = Command::new(python)
            .arg("-B")
            .arg(doubles().join("vendor").join(script))
            .arg(self.url(path))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{script} does not accept the double: {said}");
        Some(self.asked())
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn doubles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doubles")
}

/// What a testbed has brought; in CI it has to be there.
pub(crate) fn testbed(variable: &str, bed: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    assert!(
        found.is_some() || std::env::var("CI").as_deref() != Ok("true"),
        "the testbed `{bed}` is missing"
    );
    if found.is_none() {
        eprintln!("not run: prepare it with scripts/testbeds/{bed}");
    }
    found
}

/// Says yes to everything.
struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

/// A runtime with a home of its own.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) runtime: Runtime,
}

impl Bench {
    /// Where nobody has to be asked.
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        Self::configured("", variables, |builder| builder.policy(Everything))
    }

    /// With this configuration, and more.
    pub(crate) fn configured(
        config: &str,
        variables: &[(&str, &str)],
        more: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("home")).unwrap();
        std::fs::write(folder.path().join("home/config.yaml"), config).unwrap();
        let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let home = Home::at(&folder.path().join("home"));
        let runtime = more(Runtime::builder().cwd(folder.path()).home(home).env(env)).build().unwrap();
        Self { folder, runtime }
    }

    /// Where nobody has to be asked, with a configuration.
    pub(crate) fn with_config(config: &str, variables: &[(&str, &str)]) -> Self {
        Self::configured(config, variables, |builder| builder.policy(Everything))
    }

    /// What a call answers, without the frame around words of strangers.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let outcome = self.runtime.call_blocking(ToolCall::new(tool, arguments.to_string()));
        let mut body: Value = serde_json::from_str(&outcome.body).unwrap();
        if body["untrusted"] == true { body["data"].take() } else { body }
    }

    /// Why a call failed.
    pub(crate) fn fails(&self, tool: &str, arguments: &Value) -> String {
        let body = self.call(tool, arguments);
        body["error"].as_str().unwrap_or_else(|| panic!("{tool} {arguments} did not fail: {body}")).to_owned()
    }
}

/// What we asked is what the service's own client asked: each question of ours is among those of the client, with
/// nothing in it that the client did not say as well.
pub(crate) fn assert_within(ours: &[Value], vendors: &[Value]) {
    for ask in ours {
        let same = |theirs: &&Value| {
            let theirs = plain(theirs);
            let ask = plain(ask);
            theirs["method"] == ask["method"]
                && theirs["path"] == ask["path"]
                && is_part(&ask["query"], &theirs["query"])
                && is_part(&ask["body"], &theirs["body"])
        };
        let near: Vec<&Value> = vendors.iter().filter(|theirs| theirs["method"] == ask["method"]).collect();
        assert!(vendors.iter().any(|theirs| same(&theirs)), "{ask}\nis not among\n{}", json!(near));
    }
}

/// A question without the ways in which one thing can be written.
fn plain(asked: &Value) -> Value {
    let mut asked = asked.clone();
    asked["path"] = json!(asked["path"].as_str().unwrap().trim_end_matches('/'));
    for value in asked["query"].as_object_mut().unwrap().values_mut() {
        match value.as_str().unwrap() {
            "True" | "1" => *value = json!("true"),
            "False" => *value = json!("false"),
            _ => {}
        }
    }
    if asked["body"].is_array() {
        // A list of tracks alone, whose place stands in the query, is the same as an object with both.
        let mut body = json!({ "uris": asked["body"] });
        if let Some(position) = asked["query"]["position"].as_str() {
            body["position"] = json!(position.parse::<u64>().unwrap());
        }
        asked["body"] = body;
    }
    asked
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Null, _) => true,
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|there| is_part(value, there)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part(part, whole))
        }
        _ => part == whole,
    }
}
