//! Servers that others wrote: the reference servers over stdio and HTTP, the Python SDK over all
//! three ways, and the official conformance suite for clients.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hermes::{Session, Status};
use serde_json::{Value, json};

use crate::support::{Bench, call, told, until, words};

/// What `scripts/testbeds/mcp` has brought.
pub(crate) struct Bed {
    pub(crate) node: String,
    pub(crate) everything: String,
    filesystem: String,
    pub(crate) python: String,
    conformance: String,
    next_conformance: String,
}

impl Bed {
    /// Nothing where the testbed was not prepared, which is a failure in CI.
    pub(crate) fn here() -> Option<Self> {
        let get = |name: &str| std::env::var(name).ok();
        let bed = (|| {
            Some(Self {
                node: get("MCP_NODE")?,
                everything: get("MCP_EVERYTHING")?,
                filesystem: get("MCP_FILESYSTEM")?,
                python: get("MCP_PYTHON")?,
                conformance: get("MCP_CONFORMANCE")?,
                next_conformance: get("MCP_CONFORMANCE_NEXT")?,
            })
        })();
        assert!(bed.is_some() || get("CI").as_deref() != Some("true"), "the testbed `mcp` is missing");
        if bed.is_none() {
            eprintln!("not run: prepare it with scripts/testbeds/mcp");
        }
        bed
    }
}

/// A server of its own, stopped with the test.
pub(crate) struct Served(Child, pub(crate) u16);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a server that listens on a port it is told, and waits until it does.
pub(crate) fn serve(command: &mut Command, port: u16) -> Served {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let served = Served(child, port);
    until("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    served
}

/// A server of the Python SDK over each of the three ways, and what runs for that.
pub(crate) fn ways_to_sdk_server(bed: &Bed) -> ([Value; 3], Vec<Served>) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/sdk_server.py");
    let mut served = Vec::new();
    let mut http = |kind: &str, path: &str| {
        let port = free_port();
        let mut command = Command::new(&bed.python);
        served.push(serve(command.arg(&script).arg(kind).arg(port.to_string()), port));
        format!("http://127.0.0.1:{port}{path}")
    };
    let ways = [
        json!({ "command": bed.python, "args": [script, "stdio"] }),
        json!({ "url": http("streamable-http", "/mcp") }),
        json!({ "url": http("sse", "/sse"), "transport": "sse" }),
    ];
    (ways, served)
}

/// Puts a server behind HTTP.
pub(crate) fn bridge(words: &[&str]) -> Served {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/bridge.py");
    let mut child = Command::new("python3")
        .arg(script)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Served(child, line.trim().parse().unwrap())
}

/// Every tool of server `s`, without the utilities.
fn tools_of(session: &Session) -> BTreeSet<String> {
    let utilities = ["list_resources", "read_resource", "list_prompts", "get_prompt"];
    let toolbox = session.toolbox_blocking();
    let names = toolbox.snapshot().tools().filter(|tool| tool.toolset().as_ref() == "mcp-s");
    names
        .map(|tool| tool.name().trim_start_matches("mcp__s__").to_owned())
        .filter(|name| !utilities.contains(&name.as_str()))
        .collect()
}

/// What a tool of server `s` answers.
pub(crate) fn said(session: &Session, tool: &str, arguments: &Value) -> String {
    let outcome = call(session, &format!("mcp__s__{tool}"), arguments);
    assert_eq!(outcome.status, Status::Ok, "{tool}: {}", outcome.body);
    // They keep what they promise.
    assert_eq!(told(&outcome).get("note"), None, "{tool}: {}", outcome.body);
    words(&outcome)
}

fn every_tool_of_everything(session: &Session) {
    let mut left = tools_of(session);
    let mut try_it = |tool: &str, arguments: Value, expected: &str| {
        assert!(left.remove(tool), "there is no {tool}");
        let answer = said(session, tool, &arguments);
        assert!(answer.contains(expected), "{tool}: {answer}");
    };
    try_it("echo", json!({ "message": "hello" }), "Echo: hello");
    try_it("get_sum", json!({ "a": 2, "b": 3 }), "5");
    try_it("get_annotated_message", json!({ "messageType": "success", "includeImage": true }), "success");
    try_it("get_env", json!({}), "PATH");
    try_it("get_resource_links", json!({ "count": 2 }), "resource");
    try_it("get_resource_reference", json!({ "resourceType": "Text", "resourceId": 1 }), "Resource");
    try_it("get_structured_content", json!({ "location": "Chicago" }), "temperature");
    try_it("get_tiny_image", json!({}), "image/png");
    try_it("toggle_simulated_logging", json!({}), "log");
    try_it("toggle_subscriber_updates", json!({}), "");
    try_it("trigger_long_running_operation", json!({ "duration": 1, "steps": 2 }), "completed");
    try_it("get_roots_list", json!({}), "");
    let gzip = json!({ "name": "a.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource" });
    try_it("gzip_file_as_resource", gzip, "gzip");
    // It can only be run as a task, which is an extension of the protocol that is not spoken here.
    assert!(left.remove("simulate_research_query"));
    let refused = call(session, "mcp__s__simulate_research_query", &json!({ "topic": "x" }));
    assert_eq!(refused.status, Status::Failed, "{}", refused.body);
    assert!(left.is_empty(), "not called: {left:?}");
    let resources = said(session, "list_resources", &json!({}));
    assert!(resources.contains("resourceTemplates"), "{resources}");
    let prompts = said(session, "list_prompts", &json!({}));
    assert!(prompts.contains("simple-prompt"), "{prompts}");
    assert!(said(session, "get_prompt", &json!({ "name": "simple-prompt" })).contains("prompt"));
    assert!(!said(session, "read_resource", &json!({ "uri": "demo://resource/dynamic/text/1" })).is_empty());
}

fn every_tool_of_filesystem(session: &Session, folder: &Path) {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut left = tools_of(session);
    let mut try_it = |tool: &str, arguments: Value, expected: &str| {
        assert!(left.remove(tool), "there is no {tool}");
        let answer = said(session, tool, &arguments);
        assert!(answer.contains(expected), "{tool}: {answer}");
    };
    try_it("list_allowed_directories", json!({}), folder.to_str().unwrap());
    try_it("create_directory", json!({ "path": at("sub") }), "sub");
    try_it("write_file", json!({ "path": at("sub/a.txt"), "content": "one\ntwo\n" }), "a.txt");
    try_it("read_file", json!({ "path": at("sub/a.txt") }), "two");
    try_it("read_text_file", json!({ "path": at("sub/a.txt"), "head": 1 }), "one");
    try_it("read_multiple_files", json!({ "paths": [at("sub/a.txt")] }), "two");
    let edits = json!([{ "oldText": "two", "newText": "three" }]);
    try_it("edit_file", json!({ "path": at("sub/a.txt"), "edits": edits }), "three");
    try_it("list_directory", json!({ "path": at("sub") }), "a.txt");
    try_it("list_directory_with_sizes", json!({ "path": at("sub") }), "a.txt");
    try_it("directory_tree", json!({ "path": at("") }), "a.txt");
    try_it("search_files", json!({ "path": at(""), "pattern": "**/*.txt" }), "a.txt");
    try_it("get_file_info", json!({ "path": at("sub/a.txt") }), "size");
    try_it("move_file", json!({ "source": at("sub/a.txt"), "destination": at("b.txt") }), "b.txt");
    std::fs::write(folder.join("p.png"), [137, 80, 78, 71, 13, 10, 26, 10]).unwrap();
    try_it("read_media_file", json!({ "path": at("p.png") }), "image/png");
    assert!(left.is_empty(), "not called: {left:?}");
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).unwrap(), "one\nthree\n");
}

#[test]
fn every_tool_of_server_everything_works_over_stdio() {
    let Some(bed) = Bed::here() else { return };
    let bench = Bench::with(&json!({ "s": { "command": bed.node, "args": [bed.everything, "stdio"] } }));

    every_tool_of_everything(&bench.session());
}

#[test]
fn every_tool_of_server_everything_works_over_http() {
    let Some(bed) = Bed::here() else { return };
    let port = free_port();
    let mut command = Command::new(&bed.node);
    let served = serve(command.args([&bed.everything, "streamableHttp"]).env("PORT", port.to_string()), port);
    let bench = Bench::with(&json!({ "s": { "url": format!("http://127.0.0.1:{}/mcp", served.1) } }));

    every_tool_of_everything(&bench.session());
}

#[test]
fn every_tool_of_server_everything_works_over_the_older_stream_of_events() {
    let Some(bed) = Bed::here() else { return };
    let port = free_port();
    let mut command = Command::new(&bed.node);
    let served = serve(command.args([&bed.everything, "sse"]).env("PORT", port.to_string()), port);
    let bench = Bench::with(
        &json!({ "s": { "url": format!("http://127.0.0.1:{}/sse", served.1), "transport": "sse" } }),
    );

    every_tool_of_everything(&bench.session());
}

#[test]
fn every_tool_of_server_filesystem_works_over_stdio() {
    let Some(bed) = Bed::here() else { return };
    let bench = Bench::with(&json!({}));
    let folder = bench.path("work");
    bench.configure(&json!({ "s": { "command": bed.node, "args": [bed.filesystem, folder] } }));

    every_tool_of_filesystem(&bench.session(), &folder);
}

#[test]
fn every_tool_of_server_filesystem_works_over_http() {
    let Some(bed) = Bed::here() else { return };
    let bench = Bench::with(&json!({}));
    let folder = bench.path("work");
    // The server itself knows standard streams only.
    let served = bridge(&[&bed.node, &bed.filesystem, folder.to_str().unwrap()]);
    bench.configure(&json!({ "s": { "url": format!("http://127.0.0.1:{}/mcp", served.1) } }));

    every_tool_of_filesystem(&bench.session(), &folder);
}

#[test]
fn servers_of_the_python_sdk_work_over_every_way() {
    let Some(bed) = Bed::here() else { return };
    let (ways, _served) = ways_to_sdk_server(&bed);
    for way in ways {
        let bench = Bench::with(&json!({ "s": way }));
        let session = bench.session();

        assert_eq!(said(&session, "add", &json!({ "a": 2, "b": 3 })), "{\"result\":5}", "{way}");
        assert!(said(&session, "list_resources", &json!({})).contains("note://one"), "{way}");
        assert_eq!(said(&session, "read_resource", &json!({ "uri": "note://one" })), "the first note");
        let prompt =
            said(&session, "get_prompt", &json!({ "name": "greet", "arguments": { "name": "Ann" } }));
        assert!(prompt.contains("Say hello to Ann."), "{prompt}");
    }
}

/// The client for the suite. Examples are built beside the tests.
fn conformance_client() -> String {
    let own = std::env::current_exe().unwrap();
    let client = own.parent().unwrap().parent().unwrap().join("examples/mcp_conformance_client");
    client.to_str().unwrap().to_owned()
}

#[test]
fn what_the_newest_protocol_requires_of_a_client_holds() {
    let Some(bed) = Bed::here() else { return };
    let mut command = Command::new(&bed.node);
    command.args([&bed.next_conformance, "client", "--requirements", "2026-07-28"]);

    let ran = command.args(["--command", &conformance_client()]).output().unwrap();

    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("http-custom-headers"), "the suite ran nothing: {said}");
}

#[test]
fn the_official_suite_finds_no_fault_with_this_client() {
    let Some(bed) = Bed::here() else { return };
    let listed = Command::new(&bed.node).args([bed.conformance.as_str(), "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let clients = listed.split_once("Client scenarios").map_or(listed.as_str(), |(_, clients)| clients);
    let scenarios: Vec<&str> =
        clients.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next()).collect();
    assert!(scenarios.len() >= 20, "{listed}");
    let client = conformance_client();
    let mut failed = Vec::new();
    for scenario in scenarios {
        let mut command = Command::new(&bed.node);
        let ran = command
            .args([&bed.conformance, "client", "--command", &client, "--scenario", scenario])
            .output()
            .unwrap();
        if !ran.status.success() {
            let said =
                format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            failed.push(format!("== {scenario}\n{said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
