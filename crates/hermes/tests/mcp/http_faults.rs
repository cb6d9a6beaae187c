//! The same over HTTP: a server that misbehaves costs the one call that met it, and nothing runs twice.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hermes::extend::mcp::client::Status as Standing;
use hermes::{Status, ToolCall};
use serde_json::{Value, json};

use crate::support::{Bench, call, until, words};

/// A server that misbehaves when asked to.
struct Faulty {
    bench: Bench,
    process: Child,
    port: String,
}

impl Drop for Faulty {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the server, with these words behind the notes; the port that it listens on.
fn start(bench: &Bench, words: &[&str]) -> (Child, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/faulty_http.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(bench.path("notes")).args(words);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (process, line.trim().to_owned())
}

impl Faulty {
    fn new(more: &Value) -> Self {
        Self::with(&[], more)
    }

    fn with(words: &[&str], more: &Value) -> Self {
        let bench = Bench::with(&json!({}));
        let (process, port) = start(&bench, words);
        let mut server = json!({ "url": format!("http://127.0.0.1:{port}/mcp") });
        for (key, value) in more.as_object().unwrap() {
            server[key] = value.clone();
        }
        bench.configure(&json!({ "s": server }));
        Self { bench, process, port }
    }
}

#[test]
fn an_answer_that_never_comes_is_told_and_the_call_is_not_sent_again() {
    let faulty = Faulty::new(&json!({}));
    let session = faulty.bench.session();

    for tool in ["cut", "cut_events"] {
        let cut = call(&session, &format!("mcp__s__{tool}"), &json!({}));
        assert_eq!(cut.status, Status::Failed, "{tool}");
        assert!(words(&cut).contains("may or may not have done"), "{tool}: {}", words(&cut));
        assert_eq!(faulty.bench.count(tool), 1);
        assert_eq!(words(&call(&session, "mcp__s__echo", &json!({ "after": tool }))), "echo done");
    }
}

#[test]
fn a_server_that_dies_costs_its_call_and_is_asked_again_when_it_is_back() {
    let mut faulty = Faulty::new(&json!({}));
    let session = faulty.bench.session();

    let died = call(&session, "mcp__s__die", &json!({}));
    faulty.process.wait().unwrap();
    let nobody = call(&session, "mcp__s__act", &json!({}));
    (faulty.process, _) = start(&faulty.bench, &[&faulty.port]);
    session.new_turn();
    let back = call(&session, "mcp__s__act", &json!({}));

    assert!(words(&died).contains("may or may not have done"), "{}", words(&died));
    assert!(words(&nobody).contains("cannot be reached"), "{}", words(&nobody));
    assert_eq!(words(&back), "act done");
    assert_eq!((faulty.bench.count("die"), faulty.bench.count("act")), (1, 1));
}

#[test]
fn a_session_that_is_over_is_begun_anew_and_the_call_runs_once() {
    let faulty = Faulty::new(&json!({}));
    let session = faulty.bench.session();

    let over = call(&session, "mcp__s__expire", &json!({}));
    let after = call(&session, "mcp__s__act", &json!({}));

    assert_eq!((words(&over).as_str(), words(&after).as_str()), ("expire done", "act done"));
    assert_eq!((faulty.bench.count("expire"), faulty.bench.count("act")), (1, 1));
    assert_eq!(faulty.bench.count("began"), 2);
}

#[test]
fn a_call_whose_session_another_one_has_begun_anew_may_have_run() {
    let faulty = Faulty::new(&json!({ "supports_parallel_tool_calls": true }));
    let session = faulty.bench.session();

    let slow = std::thread::scope(|scope| {
        let slow = scope.spawn(|| call(&session, "mcp__s__slow_events", &json!({})));
        until("the slow one is at work", || faulty.bench.count("slow_events") == 1);
        call(&session, "mcp__s__expire", &json!({}));
        assert_eq!(words(&call(&session, "mcp__s__act", &json!({}))), "act done");
        slow.join().unwrap()
    });

    assert!(words(&slow).contains("may or may not have done"), "{slow:?}");
    assert_eq!((faulty.bench.count("slow_events"), faulty.bench.count("began")), (1, 2));
}

#[test]
fn a_server_that_was_started_again_and_refuses_the_old_session_in_words_is_asked_in_a_new_one() {
    for manner in ["bad_session", "bad_session_text"] {
        let mut faulty = Faulty::with(&["0", manner], &json!({}));
        let session = faulty.bench.session();
        call(&session, "mcp__s__echo", &json!({}));

        faulty.process.kill().unwrap();
        faulty.process.wait().unwrap();
        (faulty.process, _) = start(&faulty.bench, &[&faulty.port, manner, "1"]);
        let after = call(&session, "mcp__s__act", &json!({}));

        assert_eq!(words(&after), "act done", "{manner}");
        assert_eq!((faulty.bench.count("act"), faulty.bench.count("began")), (1, 2), "{manner}");
    }
}

#[test]
fn a_look_whether_a_server_is_there_begins_a_new_session_where_the_old_one_is_refused() {
    let faulty = Faulty::with(&["0", "bad_session"], &json!({ "timeout": 1 }));
    let session = faulty.bench.session();

    call(&session, "mcp__s__forget", &json!({}));
    until("a new session is begun", || faulty.bench.count("began") == 2);

    assert_eq!(faulty.bench.count("forget"), 1);
}

#[test]
fn answers_that_are_none_cost_their_call_only() {
    let faulty = Faulty::new(&json!({}));
    let runtime = faulty.bench.runtime();
    let session = runtime.session().open().unwrap();

    for tool in ["garbage", "page", "broken", "flood"] {
        let outcome = call(&session, &format!("mcp__s__{tool}"), &json!({}));
        assert_eq!(outcome.status, Status::Failed, "{tool}: {}", outcome.body);
        assert!(outcome.body.len() < 2000, "{tool}: {} bytes", outcome.body.len());
        assert_eq!(faulty.bench.count(tool), 1, "{tool}");
        assert_eq!(words(&call(&session, "mcp__s__echo", &json!({ "after": tool }))), "echo done", "{tool}");
    }

    let standing = runtime.mcp().server("s").unwrap().status();
    assert_eq!(standing, Standing::Connected);
    assert_eq!(faulty.bench.count("began"), 1, "an answer that is none says nothing about the connection");
}

#[test]
fn a_server_that_takes_the_first_question_badly_is_asked_as_it_expects() {
    for manner in ["broken", "page", "hang"] {
        let faulty = Faulty::with(&["0", manner], &json!({ "connect_timeout": 9 }));
        let session = faulty.bench.session();

        assert_eq!(words(&call(&session, "mcp__s__echo", &json!({}))), "echo done", "{manner}");
    }
}

#[test]
fn a_request_that_fails_costs_no_other() {
    let faulty = Faulty::new(&json!({ "supports_parallel_tool_calls": true }));
    let session = faulty.bench.session();
    let calls = ["slow", "broken", "cut"].map(|tool| ToolCall::new(format!("mcp__s__{tool}"), "{}"));

    let outcomes = session.batch_blocking(calls.into());

    assert_eq!(words(&outcomes[0]), "slow done");
    assert_eq!((outcomes[1].status, outcomes[2].status), (Status::Failed, Status::Failed));
    assert_eq!((faulty.bench.count("began"), faulty.bench.count("deleted")), (1, 0));
}

#[test]
fn what_is_told_of_a_broken_call_is_what_was_done() {
    let faulty = Faulty::new(&json!({}));
    let session = faulty.bench.session();
    let say = |tool: &str| words(&call(&session, &format!("mcp__s__{tool}"), &json!({})));

    let (once, twice, lost) = (say("broken"), say("look_broken"), say("lost"));
    let (flood, events) = (say("flood"), say("look_flood"));

    assert!(once.contains("it was not asked again"), "{once}");
    assert!(twice.contains("it was asked twice"), "{twice}");
    assert!(lost.contains("neither the session nor a new one") && !lost.contains("may or may not"), "{lost}");
    assert!(flood.contains("more than 16777216 bytes"), "{flood}");
    assert!(events.contains("more than 16777216 bytes"), "{events}");
    let count = |tool: &str| faulty.bench.count(tool);
    assert_eq!((count("broken"), count("look_broken"), count("flood"), count("look_flood")), (1, 2, 1, 1));
}

#[test]
fn the_session_at_the_server_is_ended_with_ours() {
    let faulty = Faulty::new(&json!({}));
    let runtime = faulty.bench.runtime();

    runtime.end_servers_blocking(std::time::Duration::from_secs(10));

    assert_eq!(faulty.bench.count("deleted"), 1);
}

#[test]
fn a_hanging_call_is_taken_back_and_the_others_go_on() {
    let faulty = Faulty::new(&json!({ "timeout": 1.5, "supports_parallel_tool_calls": true }));
    let session = faulty.bench.session();
    let calls = ["hang", "echo"].map(|tool| ToolCall::new(format!("mcp__s__{tool}"), "{}"));

    let outcomes = session.batch_blocking(calls.into());

    assert_eq!(outcomes[0].status, Status::TimedOut);
    assert_eq!(words(&outcomes[1]), "echo done");
    until("the server hears that nobody waits", || faulty.bench.count("cancelled") == 1);
    assert_eq!((faulty.bench.count("hang"), faulty.bench.count("began")), (1, 1));
}

#[test]
fn what_can_never_be_answered_any_more_fails_at_once() {
    let faulty = Faulty::new(&json!({}));
    let session = faulty.bench.session();
    let began = std::time::Instant::now();

    for tool in ["accepted", "foreign"] {
        let unanswered = call(&session, &format!("mcp__s__{tool}"), &json!({}));

        assert!(words(&unanswered).contains("may or may not have done"), "{tool}: {}", words(&unanswered));
        assert_eq!(faulty.bench.count(tool), 1);
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn odd_answers_are_understood_in_every_form_they_come_in() {
    let faulty = Faulty::new(&json!({ "timeout": 10 }));
    let session = faulty.bench.session();
    let said = |tool: &str| words(&call(&session, &format!("mcp__s__{tool}"), &json!({})));

    assert_eq!([said("half"), said("half_events")], ["half \u{fffd}"; 2]);
    assert_eq!([said("batch"), said("batch_events")], ["together"; 2]);
    assert_eq!(said("encoding"), "identity");
}

#[test]
fn a_server_that_will_not_talk_is_told_with_what_helps() {
    let hint = "`transport: sse`";
    for (manner, words) in [
        ("old", ["HTTP 405", hint]),
        ("gone", ["HTTP 404 Not Found; is that its address?", hint]),
        ("moved", ["it has moved to https://moved.example/mcp (HTTP 301)", "`url`"]),
        ("key", ["it does not take the `Authorization`", "`headers` (HTTP 401)"]),
    ] {
        let headers = json!({ "headers": { "authorization": "Bearer stale" } });
        let faulty = Faulty::with(&["0", manner], &headers);

        let problems = faulty.bench.runtime().foreign_problems();

        let told = |it: &String| words.iter().all(|word| it.contains(word)) && !it.contains('\n');
        assert!(problems.iter().any(told), "{manner}: {problems:?}");
    }
}

#[test]
fn a_header_that_cannot_be_called_so_is_named_where_the_server_cannot_be_asked() {
    let faulty = Faulty::new(&json!({ "headers": { "X Key:": "s3cr3t" } }));

    let problems = faulty.bench.runtime().foreign_problems();

    let named = |it: &String| it.contains("`headers` names `X Key:`, and no header can be called that");
    assert!(problems.iter().any(named), "{problems:?}");
    assert!(!problems.iter().any(|it| it.contains("s3cr3t")), "{problems:?}");
}
