//! The pipe itself: what is written to it, and how the server ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;

/// A server at the other end of two pipes.
struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Pipe {
    fn open(home: &Home) -> Self {
        let mut command = home.command(&["mcp", "serve", "--toolsets", "file,terminal,todo"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipe = Self { child, to, from, next: 1 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        pipe.ask("initialize", &hello);
        pipe.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
        self.to.flush().unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.tell(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message, which must be one.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not the protocol: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.hear();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }
}

/// Waits until a process that a command started has written its number down.
fn number(home: &Home, name: &str) -> Pid {
    let path = home.project().join(name);
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
            return pid;
        }
        std::thread::yield_now();
    }
}

fn is_gone(pid: Pid) -> bool {
    // One that has ended but was not yet asked about by its parent does nothing any more.
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    state.is_empty() || state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn becomes_gone(pid: Pid) -> bool {
    (0..400).any(|_| {
        let gone = is_gone(pid);
        if !gone {
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        gone
    })
}

const LONG: &str = "sleep 300 & echo $! > child.pid; wait";

#[test]
fn when_the_client_goes_so_do_the_server_and_what_it_started() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    pipe.send("tools/call", &json!({ "name": "terminal", "arguments": { "command": LONG } }));
    let child = number(&home, "child.pid");

    drop(pipe.to);
    let mut rest = String::new();
    pipe.from.read_to_string(&mut rest).unwrap();
    let ended = pipe.child.wait().unwrap();

    assert!(ended.success(), "{ended}");
    assert!(rest.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{rest}");
    assert!(becomes_gone(child));
}

#[test]
fn ctrl_c_ends_the_server_and_what_it_started() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    pipe.send("tools/call", &json!({ "name": "terminal", "arguments": { "command": LONG } }));
    let child = number(&home, "child.pid");

    kill_process(pipe.pid(), Signal::INT).unwrap();
    let ended = pipe.child.wait().unwrap();

    assert_eq!(ended.code(), Some(130));
    assert!(becomes_gone(child));
}

#[test]
fn a_call_that_is_taken_back_stops_with_what_it_started_and_others_go_on() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    let id = pipe.send("tools/call", &json!({ "name": "terminal", "arguments": { "command": LONG } }));
    let child = number(&home, "child.pid");

    let taken_back = json!({ "requestId": id, "reason": "no longer wanted" });
    pipe.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back }));

    assert!(becomes_gone(child));
    let after = pipe.ask("tools/call", &json!({ "name": "todo", "arguments": {} }));
    assert_eq!(after["result"]["isError"], false);
    assert_eq!(pipe.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn calls_overlap() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    let started = std::time::Instant::now();

    let slow = pipe.send("tools/call", &json!({ "name": "terminal", "arguments": { "command": "sleep 5" } }));
    let quick = pipe.ask("tools/call", &json!({ "name": "todo", "arguments": {} }));

    assert_eq!(quick["result"]["isError"], false);
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "the quick call waited for the slow one");
    assert_eq!(pipe.hear()["id"], slow);
}

#[test]
fn requests_that_are_piped_in_are_all_answered() {
    let home = Home::new().file("notes.txt", "buy milk\n");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"notes.txt"}}}"#;

    let said = home.run_with(&["mcp", "serve"], format!("{hello}\n{call}\n").as_bytes());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("1|buy milk"), "{said:?}");
    assert_eq!(said.out.lines().count(), 2, "{said:?}");
}

#[test]
fn a_client_that_says_nothing_is_no_failure() {
    let said = Home::new().run_with(&["mcp", "serve"], b"");

    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
}

#[test]
fn calls_are_recorded_and_those_who_only_look_leave_nothing() {
    let home = Home::new();
    let mut looking = Pipe::open(&home);
    looking.ask("tools/list", &json!({}));
    drop(looking.to);
    looking.child.wait().unwrap();
    let before = home.json(&["sessions", "list"]);

    let mut calling = Pipe::open(&home);
    calling.ask("tools/call", &json!({ "name": "todo", "arguments": {} }));
    drop(calling.to);
    calling.child.wait().unwrap();
    let after = home.json(&["sessions", "list"]);

    assert!(!before.to_string().contains("MCP: test"), "{before}");
    assert!(after.to_string().contains("MCP: test"), "{after}");
}
