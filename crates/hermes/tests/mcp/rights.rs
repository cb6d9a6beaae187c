//! The right to ask a server: renewed without anybody noticing, once for all who need it; when it
//! cannot be renewed, somebody has to log in.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hermes::extend::mcp::client::Status;
use hermes::{Session, ToolCall};
use serde_json::{Value, json};

use crate::support::{Bench, call, told, words};

/// A server that wants to know who asks.
struct Guarded {
    bench: Bench,
    process: Child,
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Guarded {
    /// With a right in the home that was over long ago.
    fn new() -> Self {
        let bench = Bench::with(&json!({}));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/guarded.py");
        let mut command = Command::new("python3");
        let mut process =
            command.arg(script).arg(bench.path("notes")).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let base = format!("http://127.0.0.1:{}", port.trim());
        bench.configure(&json!({ "g": { "url": format!("{base}/mcp"), "auth": "oauth" } }));
        let kept = json!({
            "access": "over", "refresh": "r0", "until": 1, "client": { "id": "us" },
            "authority": { "issuer": base, "token_endpoint": format!("{base}/token") },
        });
        std::fs::create_dir_all(bench.path("home/mcp-tokens")).unwrap();
        std::fs::write(bench.path("home/mcp-tokens/g.json"), kept.to_string()).unwrap();
        Self { bench, process }
    }

    fn kept(&self) -> Value {
        let text = std::fs::read_to_string(self.bench.path("home/mcp-tokens/g.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn who(session: &Session, n: u32) -> String {
    words(&call(session, "mcp__g__who", &json!({ "n": n })))
}

#[test]
fn a_right_that_is_over_is_renewed_before_it_is_used_and_kept() {
    let guarded = Guarded::new();

    let session = guarded.bench.session();

    assert_eq!(who(&session, 1), "a1");
    assert_eq!(guarded.bench.notes(), ["renewed", "ran who"]);
    let kept = guarded.kept();
    assert_eq!((&kept["access"], &kept["refresh"]), (&json!("a1"), &json!("r1")));
    drop(session);
    assert_eq!(who(&guarded.bench.session(), 2), "a1", "another program finds what this one got");
    assert_eq!(guarded.bench.count("renewed"), 1);
}

#[test]
fn a_right_that_was_taken_away_is_renewed_once_for_all_calls_that_need_it() {
    let guarded = Guarded::new();
    let session = guarded.bench.session();
    assert_eq!(words(&call(&session, "mcp__g__expire", &json!({}))), "a1");

    let calls = (0..4).map(|n| ToolCall::new("mcp__g__who", json!({ "n": n }).to_string()));
    let outcomes = session.batch_blocking(calls.collect());

    assert!(outcomes.iter().all(|outcome| words(outcome) == "a2"), "{outcomes:?}");
    assert_eq!((guarded.bench.count("renewed"), guarded.bench.count("ran who")), (2, 4));
}

#[test]
fn a_right_that_cannot_be_renewed_means_that_somebody_has_to_log_in() {
    let guarded = Guarded::new();
    let runtime = guarded.bench.runtime();
    let session = runtime.session().open().unwrap();
    assert_eq!(words(&call(&session, "mcp__g__close", &json!({}))), "a1");

    let outcome = call(&session, "mcp__g__who", &json!({}));

    let said = told(&outcome);
    assert_eq!((&said["needs_reauth"], &said["server"]), (&json!(true), &json!("g")), "{said}");
    assert_eq!((guarded.bench.count("refused") > 0, guarded.bench.count("ran who")), (true, 0));
    let status = runtime.mcp().server("g").unwrap().status();
    assert!(matches!(status, Status::NeedsLogin(_)), "{status:?}");
    let problems = runtime.foreign_problems();
    assert!(problems.iter().any(|line| line.contains("run `hermes mcp login g`")), "{problems:?}");
}
