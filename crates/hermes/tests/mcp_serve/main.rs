//! The MCP server of an embedder, over HTTP: what each client is offered, told and refused.

#![expect(clippy::disallowed_methods, reason = "the test is a client with a socket of its own")]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a helper of a test fails like a test")]

mod client;
mod rings;

use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;

use hermes::Runtime;
use hermes::core::cx::ToolCx;
use hermes::core::registry::{Scope, Source};
use hermes::core::tool::{Definition, ToolEntry};
use hermes::extend::mcp::server::{Client, Level};
use hermes::guard::Mode;
use hermes::store::Home;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use client::{
    asked, configured, event, hello, post, post_sessionless, send, send_sessionless, serving, serving_with,
    session, session_of, status, taken_back,
};

#[test]
fn each_client_without_a_session_is_offered_what_it_can_do() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let can = [json!({}), json!({ "elicitation": { "form": {} } }), json!({})];
    let question = || json!({ "name": "clarify", "arguments": { "question": "Which?" } });

    let listed = can.each_ref().map(|can| post_sessionless(address, can, "tools/list", json!({})));
    let asked = can.each_ref().map(|can| post_sessionless(address, can, "tools/call", question()));

    assert_eq!(listed.map(|answer| answer.contains("\"clarify\"")), [false, true, false]);
    assert_eq!(asked.map(|answer| answer.contains("elicitation/create")), [false, true, false]);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn what_the_protocol_without_sessions_has_no_more_is_not_found() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let methods = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

    let answers = methods.map(|method| post_sessionless(address, &json!({}), method, json!({})));

    for (method, answer) in methods.iter().zip(&answers) {
        assert!(status(answer) == 404 && answer.contains("-32601"), "{method}: {answer}");
    }
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn a_message_that_says_it_is_too_large_is_refused_before_it_is_sent() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let mut stream = TcpStream::connect(address).unwrap();

    let head = format!("POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
    write!(stream, "{head}content-length: {}\r\n\r\n{{", 17 * 1024 * 1024).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();

    assert_eq!(&answer, b"HTTP/1.1 413");
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn a_session_that_was_forgotten_makes_room_for_another() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let is_there = |session: &str| status(&post(address, Some(session), &ping)) == 200;
    let sessions: Vec<String> = (0..64).map(|_| session(address)).collect();

    // The first is listened to, the second was heard of last, the third is the one that is silent longest.
    let first = send(address, "GET", Some(&sessions[0]), "");
    assert!(is_there(&sessions[1]));
    let newcomer = session(address);
    let there: Vec<bool> = sessions.iter().take(4).map(|session| is_there(session)).collect();
    assert_eq!((there, is_there(&newcomer)), (vec![true, true, false, true], true));

    // When somebody listens to every one of them, there is no room, and whoever needs none is served.
    let rest = sessions.iter().skip(1).filter(|session| **session != sessions[2]).chain([&newcomer]);
    let mut listening: Vec<_> = rest.map(|session| send(address, "GET", Some(session), "")).collect();
    listening.push(first);
    for stream in &mut listening {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
    }
    let refused = post(address, None, &hello(&json!({})));
    assert_eq!(status(&refused), 503);
    assert!(refused.to_lowercase().contains("retry-after: ") && refused.contains("64 sessions"), "{refused}");
    assert_eq!(status(&post_sessionless(address, &json!({}), "tools/list", json!({}))), 200);

    drop(listening);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn what_is_no_message_is_a_bad_request_and_an_ended_session_has_no_content() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let session = session(address);
    let answer = |method: &str, body: &str| {
        let mut answer = String::new();
        send(address, method, Some(&session), body).read_to_string(&mut answer).unwrap();
        answer
    };

    let broken = answer("POST", "{nope");
    let batch = answer("POST", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    let half = answer("POST", r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\ud83d"}}"#);
    let ended = answer("DELETE", "");

    assert!(status(&broken) == 400 && broken.contains("-32700"), "{broken}");
    assert!(status(&batch) == 400 && batch.contains("-32600"), "{batch}");
    assert!(status(&half) == 200 && half.contains("Unknown tool: \u{fffd}"), "{half}");
    assert_eq!(status(&ended), 204);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn what_runs_in_a_session_stops_when_its_client_ends_it() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(&stop);
    let definition = Definition { description: "Waits.".to_owned(), parameters: json!({ "type": "object" }) };
    let (held, holds) = mpsc::channel();
    let waits = move |_, cx: ToolCx| {
        held.send(()).unwrap();
        async move {
            cx.cancelled().cancelled().await;
            Ok(Value::Null)
        }
    };
    let waits = ToolEntry::from_fn("waits", "demo", definition, |_, _| Vec::new(), waits);
    runtime.install(Scope::new(Source::Embedder("test".to_owned())).tool(waits)).unwrap();
    let session = session(address);
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "waits" } });

    let mut stream = send(address, "POST", Some(&session), &call.to_string());
    holds.recv().unwrap();
    send(address, "DELETE", Some(&session), "").read_to_string(&mut String::new()).unwrap();

    // What nobody stops is given up a little later.
    stream.get_ref().set_read_timeout(Some(std::time::Duration::from_secs(4))).unwrap();
    assert_eq!(event(&mut stream), None);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn of_two_requests_with_the_same_id_the_second_is_refused() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(&stop);
    let definition = Definition { description: "Waits.".to_owned(), parameters: json!({ "type": "object" }) };
    let (go, held) = (CancellationToken::new(), CancellationToken::new());
    let (gone, holds) = (go.clone(), held.clone());
    let slow = ToolEntry::from_fn(
        "slow",
        "demo",
        definition,
        |_, _| Vec::new(),
        move |_, _| {
            holds.cancel();
            let gone = gone.clone();
            async move {
                gone.cancelled().await;
                Ok(json!({ "was": "first" }))
            }
        },
    );
    runtime.install(Scope::new(Source::Embedder("test".to_owned())).tool(slow)).unwrap();
    let session = session(address);
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "slow" } });

    let mut first = send(address, "POST", Some(&session), &call.to_string());
    while !held.is_cancelled() {
        thread::yield_now();
    }
    let second = post(address, Some(&session), &call);
    go.cancel();
    let mut answer = String::new();
    first.read_to_string(&mut answer).unwrap();

    assert!(status(&second) == 400 && second.contains("the id 7 is still at work"), "{second}");
    assert!(answer.contains("first"), "{answer}");
    stop.cancel();
    thread.join().unwrap();
}

/// A tool that comes while clients are there.
fn install_newcomer(runtime: &Runtime) {
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
}

#[test]
fn a_client_without_a_session_is_told_when_a_tool_comes() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(&stop);
    let wanted = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    post_sessionless(address, &json!({}), "tools/list", json!({}));

    // It comes after the client looked, and before it listens.
    install_newcomer(&runtime);
    let mut listens = send_sessionless(address, &json!({}), "subscriptions/listen", wanted);
    let accepted = event(&mut listens).unwrap();
    let told = event(&mut listens).unwrap();

    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(accepted["params"]["notifications"], json!({ "toolsListChanged": true }), "{accepted}");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"], accepted["params"]["_meta"]);
    drop(listens);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn a_client_that_has_seen_the_tools_is_told_when_one_comes() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(&stop);
    let session = session(address);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let before = post(address, Some(&session), &list);
    let mut events = send(address, "GET", Some(&session), "");

    install_newcomer(&runtime);

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
    let (_runtime, address, thread) = serving_with(builder, &stop);
    let call = |id: u32, tool: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } });

    for round in 0..3 {
        let name = format!("dropped{round}");
        std::fs::write(home.tools().join(format!("{name}.py")), tool_file(&name)).unwrap();
        // As many at once as there are threads that could be held up.
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let request = call(7, &name);
                thread::spawn(move || post(address, Some(&session(address)), &request))
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

#[test]
fn a_form_is_taken_back_on_the_stream_of_the_call_that_asked() {
    let (stop, dir) = (CancellationToken::new(), tempfile::tempdir().unwrap());
    let config = "approvals:\n  mode: manual\n  timeout: 1\n";
    let (_runtime, address, thread) = serving_with(configured(&dir, config), &stop);
    let session = session_of(address, &json!({ "elicitation": {} }));

    // Nobody answers.
    let (mut stream, form) = asked(address, &session, 7);
    assert_eq!(event(&mut stream).unwrap(), taken_back(&form));
    let denied = event(&mut stream).unwrap();
    assert_eq!((&denied["id"], &denied["result"]["isError"]), (&json!(7), &json!(true)));
    assert_eq!(event(&mut stream), None);

    // The client takes the call back, and hears of no answer.
    let (mut stream, form) = asked(address, &session, 8);
    let params = json!({ "requestId": 8 });
    post(
        address,
        Some(&session),
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
    );
    assert_eq!(event(&mut stream).unwrap(), taken_back(&form));
    assert_eq!(event(&mut stream), None);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn lines_for_the_log_come_on_the_stream_of_the_call_before_its_answer() {
    let stop = CancellationToken::new();
    let (runtime, address, thread) = serving(&stop);
    let definition = Definition { description: "Logs.".to_owned(), parameters: json!({ "type": "object" }) };
    let logs = |_, cx: ToolCx| async move {
        let client = cx.service::<Client>().copied().unwrap();
        client.log(Level::Warning, json!("first"));
        client.log(Level::Debug, json!("not wanted"));
        client.log(Level::Error, json!("second"));
        Ok(json!({ "done": true }))
    };
    let logs = ToolEntry::from_fn("logs", "demo", definition, |_, _| Vec::new(), logs).trusted();
    runtime.install(Scope::new(Source::Embedder("test".to_owned())).tool(logs)).unwrap();
    let session = session(address);
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "logs" } });

    let mut stream = send(address, "POST", Some(&session), &call.to_string());
    let messages: Vec<Value> = std::iter::from_fn(|| event(&mut stream)).collect();

    let said: Vec<&Value> = messages.iter().map(|message| &message["params"]["data"]).collect();
    assert_eq!(said, [&json!("first"), &json!("second"), &Value::Null], "{messages:?}");
    assert_eq!(messages[2]["result"]["structuredContent"]["done"], true);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn hooks_are_told_about_questions_to_a_client() {
    let (stop, dir) = (CancellationToken::new(), tempfile::tempdir().unwrap());
    let hook = |event: &str| {
        let file = dir.path().join(format!("{event}.sh"));
        let script = "#!/bin/sh\ncat > \"$0.new\" && mv \"$0.new\" \"$0.seen\"\n";
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        format!("  {event}:\n    - command: '{}'\n", file.display())
    };
    let hooks = ["pre_approval_request", "post_approval_response"].map(hook).concat();
    let config = format!("approvals:\n  mode: manual\nhooks_auto_accept: true\nhooks:\n{hooks}");
    let (_runtime, address, thread) = serving_with(configured(&dir, &config), &stop);
    let seen = |event: &str| loop {
        let text = std::fs::read_to_string(dir.path().join(format!("{event}.sh.seen")));
        if let Ok(told) = text {
            return serde_json::from_str::<Value>(&told).unwrap()["extra"].clone();
        }
        thread::yield_now();
    };
    let session = session_of(address, &json!({ "elicitation": {} }));

    let (mut stream, form) = asked(address, &session, 7);
    let before = seen("pre_approval_request");
    let content = json!({ "action": "accept", "content": { "decision": "once" } });
    post(address, Some(&session), &json!({ "jsonrpc": "2.0", "id": form["id"], "result": content }));
    let result = event(&mut stream).unwrap();
    let after = seen("post_approval_response");

    assert_eq!(result["result"]["structuredContent"]["exit_code"], 1, "{result}");
    assert_eq!(before["command"], "pkill no-such-process-zz");
    assert_eq!((&before["surface"], &before["choice"]), (&json!("mcp"), &Value::Null));
    assert_eq!((&after["surface"], &after["choice"]), (&json!("mcp"), &json!("once")));
    assert_eq!(after["session_key"], before["session_key"]);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let session = session(address);
    let mut listens = send(address, "GET", Some(&session), "");
    let mut line = String::new();
    listens.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");

    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let mut asks = send(address, "POST", Some(&session), &ping.to_string());
    // The silent ones would be gone by themselves a little later.
    asks.get_ref().set_read_timeout(Some(std::time::Duration::from_secs(15))).unwrap();
    let mut answer = String::new();
    asks.read_to_string(&mut answer).unwrap();

    assert_eq!(status(&answer), 200);
    // The oldest went; who is at work stayed.
    let mut first = &idle[0];
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
    listens.get_ref().set_nonblocking(true).unwrap();
    let open = loop {
        let mut line = String::new();
        match listens.read_line(&mut line) {
            Ok(0) => break false,
            Ok(_) => {}
            Err(wrong) => break wrong.kind() == std::io::ErrorKind::WouldBlock,
        }
    };
    assert!(open, "the stream that somebody listens to was closed");
    drop(idle);
    stop.cancel();
    thread.join().unwrap();
}

#[test]
fn an_answer_that_the_connection_broke_before_is_there_when_the_client_comes_back() {
    let stop = CancellationToken::new();
    let (_runtime, address, thread) = serving(&stop);
    let session = session(address);
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let command = format!("while [ ! -e {} ]; do sleep 0.05; done; echo brewed", go.display());
    let params = json!({ "name": "terminal", "arguments": { "command": command } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });

    let mut stream = send(address, "POST", Some(&session), &call.to_string());
    let mut line = String::new();
    while !line.starts_with("id: ") {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    let last = line.trim_start_matches("id: ").trim().to_owned();
    drop(stream);
    std::fs::write(&go, "").unwrap();
    // As long as the call is at work, nobody else may have its id.
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    while status(&post(address, Some(&session), &ping)) != 200 {}
    let back = format!("{session}\r\nLast-Event-ID: {last}");
    let answer = event(&mut send(address, "GET", Some(&back), ""));

    let answer = answer.expect("the answer was lost");
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["output"]),
        (&json!(2), &json!("brewed"))
    );
    stop.cancel();
    thread.join().unwrap();
}
