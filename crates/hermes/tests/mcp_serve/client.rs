//! A client with a socket of its own, and the server that it talks to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;

use hermes::core::toolset::Selection;
use hermes::extend::mcp::server::{Access, HttpSettings};
use hermes::store::Home;
use hermes::{McpServer, Runtime, RuntimeBuilder};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Sends one request and leaves its answer to be read.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    session: Option<&str>,
    body: &str,
) -> BufReader<TcpStream> {
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

/// The whole answer to a message.
pub(crate) fn post(address: SocketAddr, session: Option<&str>, message: &Value) -> String {
    let mut answer = String::new();
    send(address, "POST", session, &message.to_string()).read_to_string(&mut answer).unwrap();
    answer
}

/// A runtime that serves until the token fires.
pub(crate) fn serving(stop: &CancellationToken) -> (Runtime, SocketAddr, thread::JoinHandle<()>) {
    serving_with(Runtime::builder().cwd("/"), stop)
}

/// The same, for a runtime that is made in this way.
pub(crate) fn serving_with(
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

/// How a client that can do these things begins a session.
pub(crate) fn hello(abilities: &Value) -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": abilities,
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

/// Begins a session; its id.
pub(crate) fn session(address: SocketAddr) -> String {
    session_of(address, &json!({}))
}

/// Begins a session of a client that can do these things; its id.
pub(crate) fn session_of(address: SocketAddr, abilities: &Value) -> String {
    let answer = post(address, None, &hello(abilities)).to_lowercase();
    answer.split("mcp-session-id: ").nth(1).unwrap().lines().next().unwrap().to_owned()
}

/// The next message of a stream of events; nothing when it has ended.
pub(crate) fn event(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if let Some(message) = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data).ok()) {
            return Some(message);
        }
    }
}

/// A client that can show forms makes a call that policy asks about; its stream, and the form.
pub(crate) fn asked(address: SocketAddr, session: &str, id: u32) -> (BufReader<TcpStream>, Value) {
    let params = json!({ "name": "terminal", "arguments": { "command": "pkill no-such-process-zz" } });
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    let mut stream = send(address, "POST", Some(session), &call.to_string());
    let form = event(&mut stream).unwrap();
    assert_eq!(form["method"], "elicitation/create");
    (stream, form)
}

/// What a client is told when a form is over.
pub(crate) fn taken_back(form: &Value) -> Value {
    let params = json!({ "requestId": form["id"], "reason": "the question is over" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// A runtime with this configuration.
pub(crate) fn configured(dir: &tempfile::TempDir, config: &str) -> RuntimeBuilder {
    let home = Home::at(dir.path());
    std::fs::write(home.config(), config).unwrap();
    let variables = std::env::vars().filter(|(name, _)| name == "PATH");
    Runtime::builder().cwd("/").home(home).env(variables)
}

/// The status of an answer.
pub(crate) fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// The answer to a request of the protocol without sessions, by a client that can do these things.
pub(crate) fn post_sessionless(
    address: SocketAddr,
    abilities: &Value,
    method: &str,
    params: Value,
) -> String {
    let mut answer = String::new();
    send_sessionless(address, abilities, method, params).read_to_string(&mut answer).unwrap();
    answer
}

/// Sends such a request and leaves its answer to be read.
pub(crate) fn send_sessionless(
    address: SocketAddr,
    abilities: &Value,
    method: &str,
    mut params: Value,
) -> BufReader<TcpStream> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": abilities,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    params.as_object_mut().unwrap().insert("_meta".to_owned(), meta);
    let name = params.get("name").and_then(Value::as_str);
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    BufReader::new(stream)
}
