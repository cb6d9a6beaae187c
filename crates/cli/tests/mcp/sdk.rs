//! The Python SDK of the protocol's authors. `drive.py` does the work and tells what it met.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::{HERMES, Home};
use crate::served::Served;
use crate::testbed;

/// A project with a file in it.
fn project() -> Home {
    Home::new().file("notes.txt", "buy milk\n")
}

/// What the driver met.
fn drive(home: &Home, words: &[&str]) -> Option<Value> {
    let python = testbed("MCP_PYTHON")?;
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/drive.py");
    let mut command = home.program(python.to_str().unwrap(), &[&[driver], words].concat());
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn over_the_pipe(home: &Home, mode: &str) -> Option<Value> {
    drive(home, &[mode, "stdio", HERMES, "mcp", "serve", "--toolsets", "file,terminal,todo"])
}

/// What holds whichever way the client came.
fn everything_works(met: &Value) {
    assert_eq!(met["server"], "hermes");
    assert_eq!(met["tools"].as_array().unwrap().len(), 7, "{}", met["tools"]);
    assert_eq!(met["read_only"], true);
    assert_eq!(met["schema"]["required"], json!(["path"]));
    assert_eq!(met["todo"]["structured"]["summary"]["pending"], 1);
    assert_eq!(met["read"]["structured"]["content"], "1|buy milk");
    assert_eq!(met["terminal"]["structured"]["output"], "over the wire");
    assert_eq!((&met["missing"]["error"], &met["terminal"]["error"]), (&json!(true), &json!(false)));
    approvals_hold(met);
    let beats = met["progress"].as_array().unwrap();
    assert!(beats.len() >= 2, "{beats:?}");
    assert!(beats.windows(2).all(|pair| pair[0][0].as_f64() < pair[1][0].as_f64()), "{beats:?}");
    assert_eq!((&met["started"], &met["stopped"]), (&json!(true), &json!(true)));
    assert_eq!(met["after_cancel"]["structured"]["output"], "still here");
}

fn approvals_hold(met: &Value) {
    for refused in ["declined", "denied", "unclear", "again"] {
        assert_eq!(met[refused]["done"], false, "{refused}: {}", met[refused]);
        assert_eq!(met[refused]["error"], true, "{refused}");
    }
    for allowed in ["once", "session", "after_session"] {
        assert_eq!(met[allowed]["done"], true, "{allowed}: {}", met[allowed]);
    }
    assert_eq!(met["asked_after_session"], 0);
    let card = met["asked"][0]["message"].as_str().unwrap();
    assert!(card.contains("    chmod 777 made.txt\n"), "{card}");
    assert!(met["without_forms"]["text"].as_str().unwrap().contains("this client cannot show the question"));
}

#[test]
fn over_the_pipe_the_older_protocol_does_everything() {
    let Some(met) = over_the_pipe(&project(), "legacy") else { return };

    assert_eq!(met["protocol"], "2025-11-25");
    everything_works(&met);
    assert_eq!(met["other_todo"]["structured"]["summary"]["total"], 0, "another client, another session");
}

#[test]
fn over_the_pipe_the_newest_protocol_does_everything() {
    let Some(met) = over_the_pipe(&project(), "auto") else { return };

    assert_eq!(met["protocol"], "2026-07-28");
    everything_works(&met);
}

#[test]
fn over_http_the_older_protocol_does_everything() {
    let home = project();
    let served = Served::start(&home, &["--token-env", "MCP_TOKEN"]);

    let Some(met) = drive(&home, &["legacy", &served.url, "a-token-that-is-long-enough"]) else { return };

    everything_works(&met);
    assert_eq!(met["other_todo"]["structured"]["summary"]["total"], 0, "another client, another session");
}

#[test]
fn over_http_the_newest_protocol_does_everything_in_one_session() {
    let home = project();
    let served = Served::start(&home, &["--token-env", "MCP_TOKEN"]);

    let Some(met) = drive(&home, &["auto", &served.url, "a-token-that-is-long-enough"]) else { return };

    assert_eq!(met["protocol"], "2026-07-28");
    everything_works(&met);
    assert_eq!(met["other_todo"]["structured"]["summary"]["total"], 1, "who holds the token is one");
}
