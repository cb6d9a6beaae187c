//! Doubles of vendors: servers that speak a vendor's protocol and run commands for real.
//!
//! `scripts/testbeds/clouds` brings the Python they need, with the vendors' own SDKs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A double that runs, with its sandboxes in a folder that goes with it.
pub(crate) struct Double {
    pub(crate) port: u16,
    /// Where it is steered, which is not always where it speaks the vendor's protocol.
    control: u16,
    python: String,
    vendor: &'static str,
    child: Child,
    folder: tempfile::TempDir,
}

impl Double {
    /// Starts one; nothing when there is no Python for it here, which CI does not take for an answer.
    pub(crate) fn start(vendor: &'static str) -> Option<Self> {
        let Ok(python) = std::env::var("HERMES_TEST_CLOUDS_PYTHON") else {
            assert!(std::env::var("CI").is_err(), "the SDKs of the vendors must be here in CI");
            eprintln!("NOT RUN: the SDKs are not here, nothing was tried (see scripts/testbeds/clouds)");
            return None;
        };
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let mut child = Command::new(&python)
            .arg(script("double", vendor))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ports: Vec<u16> = line.split_whitespace().map(|port| port.parse().unwrap()).collect();
        let (port, control) = (*ports.first().unwrap(), *ports.last().unwrap());
        Some(Self { port, control, python, vendor, child, folder })
    }

    /// A folder that goes with it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Has the vendor's own SDK do what it can; what it says.
    pub(crate) fn driven_by_its_sdk(&self) -> String {
        let done = Command::new(&self.python)
            .args(["-W", "ignore"])
            .arg(script("sdk", self.vendor))
            .arg(self.port.to_string())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        format!("{}{err}", String::from_utf8_lossy(&done.stdout))
    }

    /// Makes something happen there.
    pub(crate) fn told(&self, what: &Value) {
        self.asked("POST", &what.to_string());
    }

    /// What there is: `sandboxes` with their `labels`, and what was `asked` so far.
    pub(crate) fn shown(&self) -> Value {
        serde_json::from_str(&self.asked("GET", "")).unwrap()
    }

    pub(crate) fn sandboxes(&self) -> Vec<Value> {
        self.shown().get("sandboxes").and_then(Value::as_array).unwrap().clone()
    }

    fn asked(&self, method: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.control)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} /_control HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        // It ends, and its sandboxes with it, when nobody holds its input any more.
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn script(kind: &str, vendor: &str) -> PathBuf {
    // The tests of the command line use these too.
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../env/tests/doubles/{kind}_{vendor}.py"))
}
