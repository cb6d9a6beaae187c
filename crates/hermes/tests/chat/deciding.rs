//! Hooks that have a say in a turn: what follows when they fail, hang, or come one after the other.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use hermes::agent::{Event, TurnStatus};
use hermes::chat::Opening;
use hermes_testkit::{Answer, ModelServer, TempHome};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{config, open, runtime, said, told};

/// A home with these hooks: event, script, and what else is said about it. `{dir}` in a script is the home.
fn hooked(server: &ModelServer, accepted: bool, hooks: &[(&str, &str, &str)]) -> TempHome {
    let home = TempHome::new();
    let mut text = config(&server.url(), "chat_completions");
    let _ = write!(text, "hooks_auto_accept: {accepted}\nhooks:\n");
    let mut events: Vec<&str> = hooks.iter().map(|(event, ..)| *event).collect();
    events.dedup();
    for event in events {
        let _ = writeln!(text, "  {event}:");
        for (at, (_, script, more)) in hooks.iter().enumerate().filter(|(_, hook)| hook.0 == event) {
            let script = script.replace("{dir}", &home.path().display().to_string());
            let file = home.write(&format!("hook{at}.sh"), &script);
            let _ = write!(text, "    - command: sh {}\n{more}", file.display());
        }
    }
    home.write("config.yaml", &text);
    home
}

const POLICY: &str = "      policy: true\n      timeout: 1\n";

/// Ways not to answer, and whether the hook is accepted.
const FAILURES: [(&str, bool, &str); 4] = [
    ("exit 1\n", true, "exit code 1"),
    ("sleep 30\n", true, "took longer"),
    ("echo oops\n", true, "not JSON"),
    ("true\n", false, "nobody has accepted it"),
];

fn notices(events: &[Event]) -> Vec<&str> {
    let told = events.iter().filter_map(|event| match event {
        Event::Notice { text } => Some(text.as_str()),
        _ => None,
    });
    told.collect()
}

fn seen(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn an_answer_is_withheld_when_the_policy_that_looks_at_it_fails() {
    for (script, accepted, why) in FAILURES {
        let server = ModelServer::saying([Answer::text("The code is 4711.")]);
        let home = hooked(&server, accepted, &[("transform_llm_output", script, POLICY)]);
        let runtime = runtime(&home, Vec::new());
        let chat = open(&runtime, &["todo"], Opening::New);

        let (end, events) = told(&chat, "What is the code?");

        assert_eq!(end.status, TurnStatus::Denied, "{why}: {end:?}");
        let error = end.error.unwrap();
        assert!(error.contains("withheld") && error.contains("transform_llm_output hook"), "{error}");
        assert!(error.contains(why), "{error}");
        assert_eq!(end.text, error);
        assert!(!format!("{events:?}").contains("4711"), "{events:?}");
        assert!(!format!("{:?}", block_on(chat.messages())).contains("4711"), "nor is it in the record");
        assert!(matches!(events.last(), Some(Event::TurnEnded(end)) if end.status == TurnStatus::Denied));
    }
}

#[test]
fn a_turn_is_refused_when_the_policy_before_it_fails() {
    for (script, accepted, why) in FAILURES {
        let server = ModelServer::saying([Answer::text("Hello.")]);
        let home = hooked(&server, accepted, &[("pre_llm_call", script, POLICY)]);
        let runtime = runtime(&home, Vec::new());
        let chat = open(&runtime, &["todo"], Opening::New);

        let (end, _) = told(&chat, "Hi");

        assert_eq!(end.status, TurnStatus::Denied, "{end:?}");
        let error = end.error.unwrap();
        assert!(error.starts_with("the turn is refused: the policy hook pre_llm_call"), "{error}");
        assert!(error.contains(why), "{error}");
        assert_eq!(server.bodies().len(), 0, "no model was asked");
    }
}

#[test]
fn an_answer_does_not_count_when_the_policy_that_agrees_to_it_fails() {
    for (script, accepted, why) in FAILURES {
        let server = ModelServer::saying([Answer::text("Done.")]);
        let home = hooked(&server, accepted, &[("pre_verify", script, POLICY)]);
        let runtime = runtime(&home, Vec::new());
        let chat = open(&runtime, &["todo"], Opening::New);

        let (end, _) = told(&chat, "Do it");

        assert_eq!(end.status, TurnStatus::Denied, "{end:?}");
        let error = end.error.unwrap();
        assert!(error.starts_with("the answer does not count") && error.contains(why), "{error}");
    }
}

#[test]
fn a_hook_that_hangs_ends_with_the_turn_that_somebody_stops() {
    for event in ["pre_llm_call", "pre_verify", "transform_llm_output"] {
        let server = ModelServer::deciding(|_| Answer::text("Done."));
        // Its number is there once it runs.
        let script = "echo $$ > {dir}/number.new; mv {dir}/number.new {dir}/number; exec sleep 50\n";
        let home = hooked(&server, true, &[(event, script, "")]);
        let runtime = runtime(&home, Vec::new());
        let chat = open(&runtime, &["todo"], Opening::New);
        let (cancel, began, number) = (CancellationToken::new(), Instant::now(), home.path().join("number"));

        let end = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !number.exists() && began.elapsed() < Duration::from_secs(20) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                cancel.cancel();
            });
            block_on(chat.turn(said("Do it"), &|_| {}, &cancel))
        });

        assert_eq!(end.status, TurnStatus::Interrupted, "{event}: {end:?}");
        let process = std::fs::read_to_string(&number).unwrap();
        let process = format!("/proc/{}", process.trim());
        while Path::new(&process).exists() {
            assert!(began.elapsed() < Duration::from_secs(30), "{event}: it still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn of_hooks_that_change_the_answer_each_sees_what_the_one_before_it_made() {
    let server = ModelServer::saying([Answer::text("Hello.")]);
    let first = "grep -q 'Hello' && echo '{\"output\": \"Good day.\"}'\n";
    let second = "grep -q '\"response_text\":\"Good day.\"' && echo '{\"output\": \"Good day to you.\"}'\n";
    let event = "transform_llm_output";
    let home = hooked(&server, true, &[(event, first, ""), (event, second, "")]);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    assert_eq!(told(&chat, "Hi").0.text, "Good day to you.");
}

#[test]
fn whoever_follows_a_turn_hears_once_of_a_hook_that_fails() {
    let server = ModelServer::saying([
        Answer::call("c1", "todo", &json!({})),
        Answer::call("c2", "todo", &json!({ "merge": false })),
        Answer::text("Done."),
    ]);
    let hooks = [("pre_llm_call", "echo no >&2; exit 3\n", ""), ("pre_tool_call", "exit 4\n", "")];
    let home = hooked(&server, true, &hooks);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    let (end, events) = told(&chat, "Do it");

    assert_eq!(end.status, TurnStatus::Answered, "{end:?}");
    let notices = notices(&events);
    let about = |what: &str| notices.iter().filter(|text| text.contains(what)).count();
    assert_eq!((about("exit code 3 (no)"), about("exit code 4")), (1, 1), "{notices:?}");
}

#[test]
fn a_long_context_goes_to_a_file_and_its_ends_to_the_model() {
    let server = ModelServer::saying([Answer::text("I see.")]);
    let script = "printf '{\"context\": \"BEGIN'; head -c 20000 /dev/zero | tr '\\0' x; printf 'END\"}'\n";
    let home = hooked(&server, true, &[("pre_llm_call", script, "")]);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    told(&chat, "Hi");

    let messages = server.bodies()[0]["messages"].clone();
    let content = messages.as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(content.contains("BEGINxxx") && content.contains("xxxEND") && content.len() < 3_000, "{content}");
    let (_, rest) = content.split_once("the whole is in ").unwrap_or_else(|| panic!("{content}"));
    let kept = std::fs::read_to_string(rest.split(" …").next().unwrap()).unwrap();
    assert_eq!(kept.trim(), format!("BEGIN{}END", "x".repeat(20_000)));
}

#[test]
fn everything_of_a_turn_carries_its_name_and_a_request_is_timed_without_hooks() {
    let server = ModelServer::saying([Answer::call("c1", "todo", &json!({})), Answer::text("Done.")]);
    let note = |event: &str| format!("cat >> {{dir}}/{event}; echo >> {{dir}}/{event}\n");
    let events = ["pre_llm_call", "pre_tool_call", "pre_api_request", "post_api_request", "post_llm_call"];
    let scripts = events.map(note);
    let mut hooks: Vec<(&str, &str, &str)> =
        events.iter().zip(&scripts).map(|(event, script)| (*event, script.as_str(), "")).collect();
    hooks.push(("transform_llm_output", "sleep 1\n", ""));
    let home = hooked(&server, true, &hooks);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);
    let id = chat.session_id();

    told(&chat, "Hi");
    drop(chat);

    let of = |event: &str| seen(&home.path().join(event));
    let turn = json!(format!("{id}.turn-1"));
    for event in events {
        let told = of(event);
        assert!(!told.is_empty(), "{event}");
        assert!(told.iter().all(|told| told["extra"]["turn_id"] == turn), "{event}: {told:?}");
    }
    assert_eq!(of("pre_tool_call")[0]["extra"]["api_request_id"], json!(format!("{id}.request-1")));
    let asked = &of("pre_api_request")[0]["extra"];
    assert_eq!((&asked["base_url"], &asked["api_mode"]), (&json!(server.url()), &json!("chat_completions")));
    let mut requests: Vec<Value> =
        of("post_api_request").iter().map(|told| told["extra"]["api_request_id"].clone()).collect();
    requests.sort_by_key(ToString::to_string);
    assert_eq!(requests, [json!(format!("{id}.request-1")), json!(format!("{id}.request-2"))]);
    let took =
        of("post_api_request").iter().filter_map(|told| told["extra"]["api_duration_ms"].as_u64()).max();
    assert!(took.unwrap() < 900, "{took:?}");
    let history = of("post_llm_call")[0]["extra"]["conversation_history"].to_string();
    assert!(history.contains("Done."), "{history}");
}
