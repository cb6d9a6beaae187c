//! The inspector's command line.

use std::process::Stdio;

use serde_json::Value;

use crate::home::{HERMES, Home};
use crate::served::Served;
use crate::testbed;

fn inspect(home: &Home, target: &[&str], words: &[&str]) -> Option<Value> {
    let (node, inspector) = (testbed("MCP_NODE")?, testbed("MCP_INSPECTOR")?);
    let all = [&[inspector.to_str().unwrap(), "--cli"], target, words].concat();
    let mut command = home.program(node.to_str().unwrap(), &all);
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let (out, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{told}");
    Some(serde_json::from_str(&out).unwrap_or_else(|wrong| panic!("{wrong}: {out}{told}")))
}

#[test]
fn the_inspector_lists_and_calls_over_the_pipe() {
    let home = Home::new().file("notes.txt", "buy milk\n");
    let target = [HERMES, "mcp", "serve", "--toolsets", "file,todo"];

    let Some(listed) = inspect(&home, &target, &["--method", "tools/list"]) else { return };
    let call = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=notes.txt"];
    let called = inspect(&home, &target, &call).unwrap();

    assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "read_file"), "{listed}");
    assert_eq!(called["structuredContent"]["content"], "1|buy milk", "{called}");
}

#[test]
fn the_inspector_lists_over_http_with_the_token_alone() {
    let home = Home::new();
    let served = Served::start(&home, &["--token-env", "MCP_TOKEN"]);
    let target = [served.url.as_str(), "--transport", "http"];
    let words = ["--method", "tools/list", "--header", "Authorization: Bearer a-token-that-is-long-enough"];

    let Some(listed) = inspect(&home, &target, &words) else { return };

    assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "terminal"), "{listed}");
}
