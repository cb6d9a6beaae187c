//! Hooks and skills in a conversation: what is told beside calls, and what the prompt says.

use std::fmt::Write as _;
use std::path::Path;

use hermes::agent::TurnStatus;
use hermes::chat::Opening;
use hermes_testkit::{Answer, ModelServer, TempHome};
use serde_json::{Value, json};

use crate::{ask, config, open, runtime, weather};

/// A home with a hook at each of these events; each writes what it is told into a file of its own.
fn hooked(server: &ModelServer, events: &[&str]) -> TempHome {
    let home = TempHome::new();
    let mut text = config(&server.url(), "chat_completions") + "hooks_auto_accept: true\nhooks:\n";
    for event in events {
        let script = home.path().join(format!("{event}.sh"));
        let answer = if *event == "pre_llm_call" { r#"{"context": "it is raining"}"# } else { "{}" };
        let body = format!(
            "cat >> '{}/{event}.seen'; echo >> '{}/{event}.seen'\necho '{answer}'\n",
            home.path().display(),
            home.path().display()
        );
        std::fs::write(&script, body).unwrap();
        let _ = writeln!(text, "  {event}:\n    - command: sh {}", script.display());
    }
    home.write("config.yaml", &text);
    home
}

fn seen(home: &Path, event: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(home.join(format!("{event}.seen"))).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn hooks_are_told_about_turns_requests_and_sessions() {
    let events = [
        "on_session_start",
        "pre_llm_call",
        "post_llm_call",
        "pre_api_request",
        "post_api_request",
        "on_session_end",
        "on_session_finalize",
    ];
    let server = ModelServer::saying([Answer::text("Hello."), Answer::text("Again.")]);
    let home = hooked(&server, &events);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);
    let id = chat.session_id();

    assert_eq!(ask(&chat, "Hi").status, TurnStatus::Answered);
    assert_eq!(ask(&chat, "Hi again").status, TurnStatus::Answered);
    drop(chat);

    let bodies = server.bodies();
    assert!(bodies[0]["messages"].to_string().contains("it is raining"), "{}", bodies[0]);
    let counts: Vec<usize> = events.iter().map(|event| seen(home.path(), event).len()).collect();
    assert_eq!(counts, [1, 2, 2, 2, 2, 2, 1], "{events:?}");
    let before = seen(home.path(), "pre_llm_call");
    assert_eq!((&before[0]["session_id"], &before[0]["extra"]["user_message"]), (&json!(id), &json!("Hi")));
    assert_eq!(
        (&before[0]["extra"]["is_first_turn"], &before[1]["extra"]["is_first_turn"]),
        (&json!(true), &json!(false))
    );
    let after = seen(home.path(), "post_llm_call");
    assert!(after.iter().any(|told| told["extra"]["assistant_response"] == "Hello."), "{after:?}");
}

#[test]
fn a_hook_is_told_about_the_question_and_the_answer() {
    let server = ModelServer::saying([
        Answer::call("c1", "terminal", &json!({ "command": "rm -rf /usr/lib" })),
        Answer::text("I may not."),
    ]);
    let home = hooked(&server, &["pre_approval_request", "post_approval_response", "pre_tool_call"]);
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["terminal"], Opening::New);

    ask(&chat, "Remove it");
    drop(chat);

    assert_eq!(seen(home.path(), "pre_tool_call")[0]["tool_input"]["command"], "rm -rf /usr/lib");
    let (asked, answered) =
        (seen(home.path(), "pre_approval_request"), seen(home.path(), "post_approval_response"));
    // What is never allowed is not asked about at all.
    assert_eq!(asked.len(), answered.len());
    for told in &answered {
        assert_eq!(told["extra"]["choice"], json!("deny"));
    }
}

#[test]
fn the_prompt_names_skills_once_and_says_nothing_without_them() {
    let server = ModelServer::saying([Answer::text("One."), Answer::text("Two."), Answer::text("Three.")]);
    let home = TempHome::new();
    home.write("config.yaml", &config(&server.url(), "chat_completions"));
    let runtime = runtime(&home, vec![weather().0]);
    let none = open(&runtime, &["skills"], Opening::New);
    ask(&none, "One?");

    home.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: How tea is made\n---\n1. Boil water\n");
    let some = open(&runtime, &["skills"], Opening::New);
    ask(&some, "Two?");
    home.write("skills/cake/SKILL.md", "---\nname: cake\ndescription: How cake is made\n---\n1. Bake\n");
    ask(&some, "Three?");

    let systems: Vec<String> = server.bodies().iter().map(|body| body["messages"][0].to_string()).collect();
    assert!(!systems[0].contains("# Skills"), "{}", systems[0]);
    assert!(systems[1].contains("- tea: How tea is made"), "{}", systems[1]);
    assert_eq!(systems[1], systems[2], "the prompt of a session stays as it was");
}
