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
        Self::begin(home, "2025-06-18", &json!({})).0
    }

    /// Opens one for a client of this version that can do these things; also what it is told first.
    fn begin(home: &Home, version: &str, abilities: &Value) -> (Self, Value) {
        let mut command = home.command(&["mcp", "serve", "--toolsets", "file,terminal,todo"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipe = Self { child, to, from, next: 1 };
        let hello = json!({
            "protocolVersion": version,
            "capabilities": abilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let told = pipe.ask("initialize", &hello);
        pipe.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        (pipe, told)
    }

    /// Writes a line as it is, and hears what comes of it.
    fn line(&mut self, line: &str) -> Value {
        writeln!(self.to, "{line}").unwrap();
        self.to.flush().unwrap();
        self.hear()
    }

    /// Ends it; what it said on standard error.
    fn end(mut self) -> String {
        drop(self.to);
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        self.child.wait().unwrap();
        said
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
fn a_last_line_without_an_end_is_answered() {
    let mut pipe = Pipe::open(&Home::new());

    write!(pipe.to, "{}", json!({ "jsonrpc": "2.0", "id": 77, "method": "ping" })).unwrap();
    drop(pipe.to);
    let mut line = String::new();
    pipe.from.read_line(&mut line).unwrap();
    pipe.child.wait().unwrap();

    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 77);
}

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

/// The id and the code of an answer that is an error.
fn refused(answer: &Value) -> (&Value, &Value) {
    (&answer["id"], &answer["error"]["code"])
}

#[test]
fn a_request_that_cannot_be_read_is_answered_and_told_on_standard_error() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    let long = "x".repeat(17 * 1024 * 1024);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));

    // Some clients write the id last.
    let long =
        pipe.line(&format!(r#"{{"method":"ping","params":{{"x":"{long}"}},"jsonrpc":"2.0","id":71}}"#));
    let deep = pipe.line(&format!(r#"{{"jsonrpc":"2.0","id":"d","method":"ping","params":{{"x":{deep}}}}}"#));
    let cut = pipe.line(r#"{"jsonrpc":"2.0","id":72,"method":"tools/call","params":{"name":"todo"}"#);
    let after = pipe.ask("ping", &json!({}));

    assert_eq!(refused(&long), (&json!(71), &json!(-32600)));
    assert_eq!(refused(&deep), (&json!("d"), &json!(-32700)));
    assert_eq!(refused(&cut), (&json!(72), &json!(-32700)));
    assert_eq!(after["result"], json!({}));
    let said = pipe.end();
    assert_eq!(said.matches("a message of the client was refused").count(), 3, "{said}");
    assert!(said.contains("more than 16 MiB"), "{said}");
}

#[test]
fn half_a_letter_in_the_arguments_is_shown_as_one_that_cannot_be_shown() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);

    let answer = pipe.line(
        r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"terminal","arguments":{"command":"echo \ud83d"}}}"#,
    );

    assert_eq!(answer["id"], 70);
    assert_eq!(answer["result"]["structuredContent"]["output"], "\u{fffd}");
}

#[test]
fn parameters_that_do_not_fit_are_told_as_such() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    let mut wrong = |method: &str, params: &Value| {
        let error = pipe.ask(method, params)["error"].clone();
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    };

    let (code, why) = wrong("tools/call", &json!({ "name": "todo", "arguments": "x" }));
    assert_eq!(code, -32602);
    assert!(why.contains("`arguments` is a string"), "{why}");
    assert_eq!(wrong("tools/call", &json!({ "arguments": {} })).0, -32602);
    assert_eq!(wrong("logging/setLevel", &json!({ "level": "loud" })).0, -32602);
    let unknown = (-32601, "there is no method `tools/clal` here".to_owned());
    assert_eq!(wrong("tools/clal", &json!({})), unknown);
}

#[test]
fn of_two_requests_with_the_same_id_the_second_is_refused() {
    let home = Home::new();
    let mut pipe = Pipe::open(&home);
    let call = |command: &str| {
        let params = json!({ "name": "terminal", "arguments": { "command": command } });
        json!({ "jsonrpc": "2.0", "id": 500, "method": "tools/call", "params": params })
    };

    pipe.tell(&call("sleep 1; echo first"));
    let second = pipe.line(&call("echo second").to_string());
    let first = pipe.hear();

    assert_eq!(refused(&second), (&json!(500), &json!(-32600)));
    assert_eq!(first["result"]["structuredContent"]["output"], "first");
    pipe.tell(&call("echo third"));
    assert_eq!(pipe.hear()["result"]["structuredContent"]["output"], "third");
}

#[test]
fn a_form_is_taken_back_when_its_question_is_over() {
    let home = Home::configured("approvals:\n  timeout: 1\n");
    let (mut pipe, _) = Pipe::begin(&home, "2025-06-18", &json!({ "elicitation": {} }));
    let call = json!({ "name": "terminal", "arguments": { "command": "rm -rf nothing-of-worth" } });
    let taken_back = |form: &Value| {
        let params = json!({ "requestId": form["id"], "reason": "the question is over" });
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
    };

    // Nobody answers.
    let id = pipe.send("tools/call", &call);
    let form = pipe.hear();
    assert_eq!(form["method"], "elicitation/create");
    assert_eq!(pipe.hear(), taken_back(&form));
    let denied = pipe.hear();
    assert_eq!((&denied["id"], &denied["result"]["isError"]), (&json!(id), &json!(true)));

    // The client takes the call back.
    let id = pipe.send("tools/call", &call);
    let form = pipe.hear();
    let params = json!({ "requestId": id });
    pipe.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    assert_eq!(pipe.hear(), taken_back(&form));
}

#[test]
fn a_version_that_is_not_spoken_is_answered_with_one_that_its_clients_know() {
    let home = Home::new();

    let (_, old) = Pipe::begin(&home, "2025-03-26", &json!({}));
    let (_, new) = Pipe::begin(&home, "2025-11-25", &json!({}));

    assert_eq!(old["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(new["result"]["protocolVersion"], "2025-11-25");
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
fn what_a_client_tells_before_it_asks_for_anything_is_ignored_and_told() {
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let stray = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

    let said = Home::new().run_with(&["mcp", "serve"], format!("{ping}\n{stray}\n{hello}\n").as_bytes());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out.lines().count(), 2, "{said:?}");
    assert!(said.err.contains("it came before its first request"), "{said:?}");
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
