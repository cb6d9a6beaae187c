//! The MCP server of an embedder: tools that come at run time are told to clients who are there.

#![expect(clippy::disallowed_methods, reason = "the test is a client with a socket of its own")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like a test")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;

use hermes::core::registry::{Scope, Source};
use hermes::core::tool::{Definition, ToolEntry};
use hermes::core::toolset::Selection;
use hermes::extend::mcp::server::{Access, HttpSettings};
use hermes::guard::Mode;
use hermes::store::Home;
use hermes::{McpServer, Runtime, RuntimeBuilder};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Sends one request and leaves its answer to be read.
fn send(address: SocketAddr, method: &str, session: Option<&str>, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    BufReader::new(stream)
}

fn post(address: SocketAddr, session: Option<&str>, message: &Value) -> String {
    let mut answer = String::new();
    send(address, "POST", session, &message.to_string()).read_to_string(&mut answer).unwrap();
    answer
}

/// A runtime that serves until the token fires.
fn serving(
    builder: RuntimeBuilder,
    stop: &CancellationToken,
) -> (Runtime, SocketAddr, thread::JoinHandle<()>) {
    let runtime = builder.build().unwrap();
    let server = McpServer::new(&runtime, Selection::everything()).unwrap();
    let address = ([127, 0, 0, 1], 0).into();
    let settings = HttpSettings { address, access: Access::Anyone, names: Vec::new() };
    let (ready, wait) = mpsc::channel();
    let stop = stop.clone();
    let serve = move || server.http(settings, |address| ready.send(address).unwrap(), stop).unwrap();
    let thread = thread::spawn(serve);
    (runtime, wait.recv().unwrap(), thread)
}

/// Says hello; the id of the session.
fn greeted(address: SocketAddr) -> String {
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let answer = post(address, None, &hello).to_lowercase();
    answer.split("mcp-session-id: ").nth(1).unwrap().lines().next().unwrap().to_owned()
}

#[test]
fn a_client_that_has_seen_the_tools_is_told_when_one_comes() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(Runtime::builder().cwd("/"), &stop);
    let session = greeted(address);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let before = post(address, Some(&session), &list);
    let mut events = send(address, "GET", Some(&session), "");

    let definition =
        Definition { description: "Newcomer.".to_owned(), parameters: json!({ "type": "object" }) };
    let newcomer = ToolEntry::from_fn(
        "newcomer",
        "demo",
        definition,
        |_, _| Vec::new(),
        |_, _| async { Ok(Value::Null) },
    );
    runtime.install(Scope::new(Source::Embedder("test".to_owned())).tool(newcomer)).unwrap();

    let mut line = String::new();
    while !line.contains("notifications/tools/list_changed") {
        line.clear();
        assert_ne!(events.read_line(&mut line).unwrap(), 0, "the stream ended without a word");
    }
    let after = post(address, Some(&session), &list);
    assert!(!before.contains("newcomer") && after.contains("newcomer"), "{after}");
    stop.cancel();
    thread.join().unwrap();
}

/// A tool file as the documentation shows it.
fn tool_file(name: &str) -> String {
    format!(
        "from tools.registry import registry\n\
         registry.register(name='{name}', toolset='demo', schema={{'name': '{name}', 'parameters': {{}}}},\n\
         \x20   handler=lambda args, **kw: '{{\"said\": \"{name}\"}}')\n"
    )
}

#[test]
fn tool_files_that_are_dropped_in_while_clients_are_there_hold_up_nobody() {
    let (stop, dir) = (CancellationToken::new(), tempfile::tempdir().unwrap());
    let home = Home::at(dir.path());
    std::fs::create_dir_all(home.tools()).unwrap();
    let variables = std::env::vars().filter(|(name, _)| name == "PATH");
    let builder = Runtime::builder().cwd("/").home(home.clone()).env(variables).mode(Mode::Off);
    let (_runtime, address, thread) = serving(builder, &stop);
    let call = |id: u32, tool: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } });

    for round in 0..3 {
        let name = format!("dropped{round}");
        std::fs::write(home.tools().join(format!("{name}.py")), tool_file(&name)).unwrap();
        // As many at once as there are threads that could be held up.
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let request = call(7, &name);
                thread::spawn(move || post(address, Some(&greeted(address)), &request))
            })
            .collect();
        for client in clients {
            let answer = client.join().unwrap();
            assert!(answer.contains("said") && answer.contains(&name), "{answer}");
        }
    }
    stop.cancel();
    thread.join().unwrap();
}
