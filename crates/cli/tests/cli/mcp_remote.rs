//! An MCP server over the network that never answers: what it hears when a person has enough.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::processes::until;

#[test]
fn a_server_over_the_network_hears_that_nobody_waits_and_that_the_session_is_over() {
    let home = Home::new();
    let (url, heard) = remote();
    home.say(&["mcp", "add", "far", "--url", &url]);
    let mut program = home.command(&["tools", "call", "mcp__far__hang", "{}"]).spawn().unwrap();
    let has = |word: &str| heard.lock().unwrap().iter().any(|it| it == word);
    until("the server is at work", || has("tools/call"));

    kill_process(Pid::from_child(&program), Signal::INT).unwrap();

    assert_eq!(program.wait().unwrap().code(), Some(130));
    assert!(has("notifications/cancelled"), "{:?}", heard.lock().unwrap());
    // A question whether the server is there at all may still be on its way beside it.
    assert!(has("DELETE"), "{:?}", heard.lock().unwrap());
}

/// A server over the network that never answers a call: its address, and what it has heard.
fn remote() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let notes = Arc::clone(&notes);
            std::thread::spawn(move || answered(&stream.unwrap(), &notes));
        }
    });
    (url, heard)
}

/// Reads one request and answers it; a call of a tool is read, and that is all.
fn answered(mut stream: &TcpStream, notes: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let verb = line.split(' ').next().unwrap().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(count) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = count.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or(&verb).to_owned();
    notes.lock().unwrap().push(method.clone());
    let result = match method.as_str() {
        "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                                "serverInfo": { "name": "far", "version": "1" } }),
        "tools/list" => json!({ "tools": [{ "name": "hang", "inputSchema": { "type": "object" },
                                            "annotations": { "readOnlyHint": true } }] }),
        "tools/call" => return drop(reader.read_line(&mut line)),
        _ => Value::Null,
    };
    let (status, text) = if !result.is_null() {
        ("200 OK", json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
    } else if verb == "POST" && message["id"].is_null() {
        ("202 Accepted", String::new())
    } else if verb == "DELETE" {
        ("200 OK", String::new())
    } else {
        ("405 Method Not Allowed", String::new())
    };
    // Whoever asked may have gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
}
