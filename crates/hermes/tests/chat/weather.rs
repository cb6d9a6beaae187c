//! A tool of one's own is called, its result is sent back, the answer is given and kept.

use std::sync::atomic::Ordering;

use hermes::agent::{Event, TurnStatus};
use hermes::chat::Opening;
use hermes_testkit::{Answer, ModelServer, TempHome};
use serde_json::json;

use crate::{ask, home, open, roles, runtime, told, weather};

const QUESTION: &str = "Use the weather tool for London";

#[test]
fn without_any_network_the_tool_is_called_and_its_result_told() {
    let home = TempHome::new();
    let (tool, count) = weather();
    let runtime = runtime(&home, vec![tool]);
    let chat = open(&runtime, &["weather"], Opening::New);

    let end = ask(&chat, QUESTION);

    assert!(chat.model().is_offline());
    assert_eq!((end.status, end.tool_calls), (TurnStatus::Answered, 1), "{end:?}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert!(end.text.contains("drizzle") && end.text.contains("London"), "{}", end.text);
    assert_eq!(roles(&chat), ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn over_every_wire_the_tool_is_called_and_its_result_sent_back() {
    for wire in ["chat_completions", "codex_responses", "anthropic_messages"] {
        let server = ModelServer::saying([
            Answer::call("call_1", "weather", &json!({ "city": "London" })),
            Answer::text("It drizzles in London."),
        ]);
        let (home, (tool, count)) = (home(&server, wire), weather());
        let runtime = runtime(&home, vec![tool]);
        let chat = open(&runtime, &["weather"], Opening::New);

        let (end, events) = told(&chat, QUESTION);

        assert_eq!(
            (end.status, end.text.as_str()),
            (TurnStatus::Answered, "It drizzles in London."),
            "{wire}"
        );
        assert_eq!((end.model_calls, end.tool_calls), (2, 1), "{wire}");
        assert_eq!(count.load(Ordering::SeqCst), 1, "{wire}");
        let bodies = server.bodies();
        assert!(bodies[0].to_string().contains(QUESTION), "{wire}: {}", bodies[0]);
        let back = bodies[1].to_string();
        assert!(back.contains("drizzle") && back.contains("call_1"), "{wire}: {back}");
        let ended = events.iter().find_map(|event| match event {
            Event::CallEnded { tool, status, .. } => Some((tool.as_str(), *status)),
            _ => None,
        });
        assert_eq!(ended, Some(("weather", "ok")), "{wire}");
        assert_eq!(roles(&chat), ["user", "assistant", "tool", "assistant"], "{wire}");
    }
}

#[test]
fn a_finished_turn_is_there_for_the_next_process() {
    let server = ModelServer::saying([
        Answer::call("call_1", "weather", &json!({ "city": "London" })),
        Answer::text("It drizzles."),
    ]);
    let home = home(&server, "chat_completions");
    let first = runtime(&home, vec![weather().0]);
    let chat = open(&first, &["weather"], Opening::New);
    ask(&chat, QUESTION);
    let id = chat.session_id();
    drop((chat, first));

    let again = runtime(&home, vec![weather().0]);
    let chat = open(&again, &["weather"], Opening::Resume(id.clone()));

    assert_eq!(chat.session_id(), id);
    assert_eq!(roles(&chat), ["user", "assistant", "tool", "assistant"]);
    assert_eq!(open(&again, &["weather"], Opening::Continue).session_id(), id);
}
