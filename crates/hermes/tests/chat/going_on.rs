//! What stays the same from question to question and from process to process.

use futures::executor::block_on;
use hermes::Runtime;
use hermes::agent::TurnStatus;
use hermes::chat::Opening;
use hermes::core::memory::{Change, Memory as _, Target};
use hermes::store::Home;
use hermes_testkit::{Answer, ModelServer};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{ask, home, open, runtime, weather};

/// The bytes of the first value under this key.
fn bytes_of(body: &[u8], key: &str) -> String {
    let text = std::str::from_utf8(body).unwrap();
    let key = format!("\"{key}\":");
    let from = text.find(&key).unwrap_or_else(|| panic!("{key} in {text}")) + key.len();
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<IgnoredAny>();
    values.next().unwrap().unwrap();
    text[from..from + values.byte_offset()].trim().to_owned()
}

/// The bytes of the first message under this key, which on this wire is the system prompt.
fn first_message(body: &[u8]) -> String {
    let all = bytes_of(body, "messages");
    let mut values = serde_json::Deserializer::from_str(&all[1..]).into_iter::<IgnoredAny>();
    values.next().unwrap().unwrap();
    all[1..=values.byte_offset()].to_owned()
}

#[test]
fn what_a_provider_can_cache_is_the_same_bytes_in_every_question() {
    for (wire, system) in [
        ("chat_completions", None),
        ("codex_responses", Some("instructions")),
        ("anthropic_messages", Some("system")),
    ] {
        let server = ModelServer::saying([
            Answer::call("c1", "weather", &json!({ "city": "London" })),
            Answer::text("Drizzle."),
            Answer::call("c2", "weather", &json!({ "city": "Oslo" })),
            Answer::text("Drizzle too."),
        ]);
        let home = home(&server, wire);
        let runtime = runtime(&home, vec![weather().0]);
        let chat = open(&runtime, &["weather", "todo", "file"], Opening::New);
        ask(&chat, "London?");
        ask(&chat, "And Oslo?");

        let asked: Vec<_> = server.requests().into_iter().filter(|seen| seen.method == "POST").collect();
        let prefix = |body: &[u8]| {
            let system = system.map_or_else(|| first_message(body), |key| bytes_of(body, key));
            (system, bytes_of(body, "tools"))
        };
        let first = prefix(&asked[0].bytes);
        assert_eq!(asked.len(), 4, "{wire}");
        assert!(first.0.len() > 200 && first.1.contains("\"weather\""), "{wire}: {first:?}");
        for seen in &asked {
            assert_eq!(prefix(&seen.bytes), first, "{wire}");
        }
    }
}

#[test]
fn a_session_that_is_gone_on_with_says_the_same_system_prompt_byte_for_byte() {
    let server = ModelServer::always(Answer::text("Yes."));
    let home = home(&server, "chat_completions");
    let first = runtime(&home, vec![weather().0]);
    let chat = open(&first, &["weather"], Opening::New);
    ask(&chat, "Are you there?");
    let id = chat.session_id();
    // What a new session would be told is another thing by now.
    let note = Change::Add("The person is called Ann.".to_owned());
    block_on(first.memory().unwrap().apply(Target::User, vec![note])).unwrap();
    drop((chat, first));

    let again = runtime(&home, vec![weather().0]);
    ask(&open(&again, &["weather"], Opening::Resume(id)), "Still?");
    ask(&open(&again, &["weather"], Opening::New), "And now?");

    let systems: Vec<String> = server
        .requests()
        .iter()
        .filter(|seen| seen.method == "POST")
        .map(|seen| first_message(&seen.bytes))
        .collect();
    assert_eq!(systems[0], systems[1]);
    assert!(
        !systems[1].contains("Ann") && systems[2].contains("The person is called Ann."),
        "{}",
        systems[2]
    );
}

#[test]
fn what_the_agent_notes_down_is_in_the_next_sessions_prompt() {
    let note = json!({ "action": "add", "target": "memory", "content": "The build needs make 4." });
    let server = ModelServer::saying([
        Answer::call("c1", "memory", &note),
        Answer::text("Noted."),
        Answer::text("make 4"),
    ]);
    let home = home(&server, "chat_completions");
    let runtime = runtime(&home, Vec::new());

    let noted = ask(&open(&runtime, &["memory"], Opening::New), "Remember that the build needs make 4.");
    ask(&open(&runtime, &["memory"], Opening::New), "What does the build need?");

    assert_eq!((noted.status, noted.tool_calls), (TurnStatus::Answered, 1));
    let system = |at: usize| server.bodies()[at]["messages"][0]["content"].to_string();
    assert!(!system(1).contains("make 4"), "the prompt of a session does not change");
    assert!(system(2).contains("The build needs make 4."), "{}", system(2));
}

#[test]
fn the_list_of_things_to_do_is_there_again_when_a_session_is_gone_on_with() {
    let todos = json!({ "todos": [
        { "id": "1", "content": "look", "status": "completed" },
        { "id": "2", "content": "mend", "status": "in_progress" },
    ] });
    let server = ModelServer::saying([
        Answer::call("c1", "todo", &todos),
        Answer::text("Planned."),
        Answer::call("c2", "todo", &json!({})),
        Answer::text("Mending."),
    ]);
    let home = home(&server, "chat_completions");
    let first = runtime(&home, Vec::new());
    let chat = open(&first, &["todo"], Opening::New);
    ask(&chat, "Plan it.");
    let id = chat.session_id();
    drop((chat, first));

    let again = runtime(&home, Vec::new());
    ask(&open(&again, &["todo"], Opening::Resume(id)), "Where are we?");

    let bodies = server.bodies();
    let answers = bodies[3]["messages"].as_array().unwrap();
    let listed = answers.iter().rfind(|message| message["role"] == "tool").unwrap();
    let listed: Value = serde_json::from_str(listed["content"].as_str().unwrap()).unwrap();
    assert_eq!(listed["todos"], todos["todos"]);
}

#[test]
fn a_question_that_follows_at_once_is_asked_with_the_tools_of_the_opening() {
    let server = ModelServer::always(Answer::text("Yes."));
    let home = home(&server, "chat_completions");
    let file = "import json\nfrom tools.registry import registry\nregistry.register('late', 'mine', \
                {'name': 'late', 'parameters': {'type': 'object', 'properties': {}}}, \
                lambda args, **kw: json.dumps({}))\n";
    let path = std::env::var("PATH").unwrap();
    let runtime = Runtime::builder().cwd("/").home(Home::at(home.path())).env([("PATH".to_owned(), path)]);
    let runtime = runtime.build().unwrap();
    home.write("tools/late.py", file);
    runtime.wait_for_tool("late");
    assert!(runtime.tools().tool("late").is_some());
    std::fs::remove_file(home.path().join("tools/late.py")).unwrap();
    let chat = |at_once: bool| {
        let builder = runtime.chat();
        let chat = if at_once { builder.asked_at_once() } else { builder }.open_blocking().unwrap();
        home.write("tools/late.py", file);
        ask(&chat, "Is it there?");
        ask(&chat, "And now?");
        std::fs::remove_file(home.path().join("tools/late.py")).unwrap();
    };

    chat(true);
    chat(false);

    let has = |body: &Value| body["tools"].to_string().contains("\"late\"");
    assert_eq!(server.bodies().iter().map(has).collect::<Vec<_>>(), [false, true, true, true]);
}
