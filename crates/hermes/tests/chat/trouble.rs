//! Models that fail, children of which one fails, a tool that is stopped, a context that is small.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join;
use hermes::agent::TurnStatus;
use hermes::chat::Opening;
use hermes::core::model::Message;
use hermes_testkit::{Answer, Latch, ModelServer, TempHome, stuck, tool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{ask, config, home, open, roles, runtime, said, told, weather};

fn with_fallback(first: &str, second: &ModelServer) -> TempHome {
    let home = TempHome::new();
    let fallback = format!(
        "fallback_providers:\n  - provider: custom\n    model: other\n    base_url: {}\n    api_key: sk-two\n",
        second.url()
    );
    home.write("config.yaml", &(config(first, "chat_completions") + &fallback));
    home
}

/// An address on loopback where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn another_model_answers_within_seconds_when_the_first_fails_or_is_not_there() {
    let failing = ModelServer::always(Answer::error(500, "on fire"));
    for first in [failing.url(), nobody()] {
        let second = ModelServer::always(Answer::text("I stood in."));
        let home = with_fallback(&first, &second);
        let runtime = runtime(&home, Vec::new());
        let chat = open(&runtime, &["todo"], Opening::New);
        let began = Instant::now();

        let end = ask(&chat, "Is anybody there?");

        assert_eq!(
            (end.status, end.text.as_str()),
            (TurnStatus::Answered, "I stood in."),
            "{first}: {end:?}"
        );
        assert!(end.model.ends_with("other"), "{}", end.model);
        assert!(began.elapsed() < Duration::from_secs(8), "{first}: {:?}", began.elapsed());
    }
}

#[test]
fn a_turn_no_model_answers_ends_in_words_and_can_be_gone_on_with() {
    let server = ModelServer::saying([Answer::error(401, "no such key"), Answer::text("Better now.")]);
    let home = home(&server, "chat_completions");
    let runtime = runtime(&home, Vec::new());
    let chat = open(&runtime, &["todo"], Opening::New);

    let failed = ask(&chat, "Hello?");
    let mended = ask(&chat, "Hello again?");

    assert_eq!(failed.status, TurnStatus::ProviderFailed);
    assert!(failed.error.unwrap().contains("no such key"));
    assert_eq!((mended.status, mended.text.as_str()), (TurnStatus::Answered, "Better now."));
}

#[test]
fn children_work_at_the_same_time_and_the_failure_of_one_is_its_own() {
    // A child calls `meet`, which waits until both are there; then one is answered, one is refused.
    let server = ModelServer::deciding(|body| {
        let asked = body["messages"].to_string();
        let results = body["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").count();
        let child = asked.contains("Another agent hands you this task");
        match (child, results) {
            (false, 0) => {
                let tasks = json!({ "tasks": [{ "goal": "look at APPLES" }, { "goal": "look at PEARS" }] });
                Answer::call("d1", "delegate_task", &tasks)
            }
            (false, _) => Answer::text("Both came back."),
            (true, 0) => Answer::call("m1", "meet", &json!({})),
            (true, _) if asked.contains("PEARS") => Answer::error(400, "pears are not for me"),
            (true, _) => Answer::text("Apples are fine."),
        }
    });
    let latch = Arc::new(Latch::default());
    let meeting = Arc::clone(&latch);
    let meet = tool("meet", move |_, _| {
        let latch = Arc::clone(&meeting);
        async move {
            let (both, wait) = (latch.until_arrived(2), latch.wait());
            join(wait, async {
                both.await;
                latch.open();
            })
            .await;
            Ok(json!({ "met": true }))
        }
    });
    let home = home(&server, "chat_completions");
    let runtime = runtime(&home, vec![meet]);
    let chat = open(&runtime, &["delegation", "meet"], Opening::New);

    let end = ask(&chat, "Look at apples and pears.");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Answered, "Both came back."), "{end:?}");
    let report = block_on(chat.messages()).unwrap().into_iter().find_map(|message| match message {
        Message::Tool { content, .. } => Some(content),
        _ => None,
    });
    let report: Value = serde_json::from_str(&report.unwrap()).unwrap();
    let results = report["results"].as_array().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(results.len(), 2, "{report}");
    assert_eq!(
        (&results[0]["status"], &results[0]["summary"]),
        (&json!("completed"), &json!("Apples are fine."))
    );
    assert_eq!(results[1]["status"], "failed", "{report}");
    assert!(results[1]["error"].as_str().unwrap().contains("pears are not for me"), "{report}");
}

#[test]
fn stopping_a_turn_in_a_tool_leaves_a_conversation_that_goes_on() {
    let server = ModelServer::saying([
        Answer::call("c1", "weather", &json!({ "city": "London" })).and_call("c2", "stuck", &json!({})),
        Answer::text("On we go."),
    ]);
    let latch = Arc::new(Latch::default());
    let home = home(&server, "chat_completions");
    let first = runtime(&home, vec![weather().0, stuck("stuck", Vec::new(), &latch)]);
    let chat = open(&first, &["weather", "stuck"], Opening::New);
    let cancel = CancellationToken::new();

    let (end, ()) = block_on(join(chat.turn(said("Wait for it."), &|_| {}, &cancel), async {
        latch.until_arrived(1).await;
        cancel.cancel();
    }));

    assert_eq!(end.status, TurnStatus::Interrupted);
    assert_eq!(roles(&chat)[..4], ["user", "assistant", "tool", "tool"]);
    let id = chat.session_id();
    drop((chat, first));
    let again = runtime(&home, vec![weather().0, stuck("stuck", Vec::new(), &latch)]);
    let chat = open(&again, &["weather", "stuck"], Opening::Resume(id));
    assert_eq!(ask(&chat, "Go on.").text, "On we go.");
    let sent = server.bodies()[1]["messages"].clone();
    let answered: Vec<&Value> =
        sent.as_array().unwrap().iter().filter_map(|one| one.get("tool_call_id")).collect();
    assert_eq!(answered, [&json!("c1"), &json!("c2")], "{sent}");
}

#[test]
fn a_long_result_fits_into_a_small_context() {
    let server = ModelServer::deciding(|body| {
        let bytes = body.to_string().len();
        // Four letters or so are a token; whoever sends more than fits is told so.
        if bytes > 8192 * 5 {
            return Answer::error(400, "this model's maximum context length is 8192 tokens");
        }
        if body["messages"].as_array().unwrap().iter().any(|one| one["role"] == "tool") {
            Answer::text("That was long.")
        } else {
            Answer::call("c1", "long", &json!({}))
        }
    });
    let long = tool("long", |_, _| async {
        let lines: Vec<String> = (0..20_000).map(|n| format!("line {n} of a long report")).collect();
        Ok(json!({ "output": lines.join("\n") }))
    });
    let home = TempHome::new();
    home.write("config.yaml", &(config(&server.url(), "chat_completions") + "  context_length: 8192\n"));
    let runtime = runtime(&home, vec![long]);
    let chat = open(&runtime, &["long"], Opening::New);

    let (end, events) = told(&chat, "Make the report.");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Answered, "That was long."), "{events:?}");
    assert_eq!(chat.model().context_tokens, Some(8192));
    assert!(
        server.bodies().iter().all(|body| body.to_string().len() < 8192 * 5),
        "nothing too long was sent"
    );
}
