//! The official conformance suite for MCP servers, against the server of this runtime with the
//! suite's fixtures installed (`examples/mcp_conformance.rs`). The testbed `mcp` says where it is.

#![expect(clippy::disallowed_methods, reason = "the test starts programs")]
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a helper is part of the tests")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The example, which cargo puts beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/mcp_conformance")
}

/// A server that ends with its standard input.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the suite says about the server, called with these words; nothing where it is not prepared.
fn judged(suite: &str, words: &[&str]) -> Option<String> {
    let (Some(node), Some(suite)) = (std::env::var_os("MCP_NODE"), std::env::var_os(suite)) else {
        assert!(std::env::var_os("CI").is_none(), "the testbed mcp is not prepared");
        eprintln!("NOT RUN: no conformance suite here; scripts/testbeds/mcp prepares it");
        return None;
    };
    let mut server = Command::new(example());
    let mut server = Served(server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut url).unwrap();

    let mut run = Command::new(node);
    run.arg(suite).args(["server", "--url", url.trim()]).args(words);
    let output = run.stdin(Stdio::null()).output().unwrap();

    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Some(said)
}

#[test]
fn every_scenario_of_the_conformance_suite_passes() {
    let Some(said) = judged("MCP_CONFORMANCE", &["--suite", "all"]) else { return };

    assert!(said.contains("32") || said.contains("passed"), "the suite ran nothing: {said}");
}

#[test]
fn what_the_newest_protocol_requires_holds() {
    let exceptions = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_conformance_exceptions.yml");
    let words = ["--requirements", "2026-07-28", "--expected-failures", exceptions];
    let Some(said) = judged("MCP_CONFORMANCE_NEXT", &words) else { return };

    assert!(said.contains("http-header-validation"), "the suite ran nothing: {said}");
}
