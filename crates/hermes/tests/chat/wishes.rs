//! What a person wishes beside the question: how hard to think, and what to look at.

use futures::executor::block_on;
use hermes::chat::Opening;
use hermes::core::model::Part;
use hermes_testkit::{Answer, ModelServer};
use serde_json::{Value, json};

use crate::{ask, home, open, runtime, said};

#[test]
fn how_hard_to_think_is_sent_over_every_wire_from_the_next_turn_on() {
    type Sent = fn(&Value) -> Value;
    let wires: [(&str, Sent); 3] = [
        ("chat_completions", |body| body["reasoning_effort"].clone()),
        ("codex_responses", |body| body["reasoning"]["effort"].clone()),
        ("anthropic_messages", |body| body["thinking"]["type"].clone()),
    ];
    for (wire, effort) in wires {
        let server = ModelServer::saying(["One.", "Two.", "Three."].map(Answer::text));
        let home = home(&server, wire);
        let runtime = runtime(&home, vec![]);
        let chat = open(&runtime, &["todo"], Opening::New);
        ask(&chat, "Once");
        chat.set_effort(Some("high".to_owned()));
        ask(&chat, "Twice");
        chat.set_effort(None);
        ask(&chat, "Again");

        let sent: Vec<Value> = server.bodies().iter().map(effort).collect();
        let asked = if wire == "anthropic_messages" { json!("enabled") } else { json!("high") };
        assert_eq!(sent, [Value::Null, asked, Value::Null], "{wire}");
        let listed = block_on(chat.sessions(5)).unwrap();
        // A session that was changed before it had a title gets one all the same.
        assert!(listed[0].title.is_some(), "{wire}");
    }
}

fn texts(parts: &[Part]) -> Vec<&str> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Image { .. } => None,
        })
        .collect()
}

#[test]
fn what_a_message_points_at_is_read_under_the_rules_and_put_behind_it() {
    let server = ModelServer::saying([]);
    let home = home(&server, "chat_completions");
    home.write("notes/a.txt", "one\ntwo\nthree\n");
    home.write("notes/b.txt", "b\n");
    home.write(".env", "OPENAI_API_KEY=sk-very-secret-key-of-mine\n");
    let runtime = runtime(&home, vec![]);
    let chat = open(&runtime, &["file"], Opening::New);
    let at = |name: &str| home.path().join(name).display().to_string();
    let (file, folder, secret) = (at("notes/a.txt"), at("notes"), at(".env"));

    let message = format!("Look at @file:{file}:2-3, @folder:{folder} and @file:{secret}; @diff too.");
    let (parts, notes) = block_on(chat.attached(said(&message)));

    let texts = texts(&parts);
    assert_eq!(texts[0], message);
    assert!(
        texts[1].contains("2|two") && texts[1].contains("3|three") && !texts[1].contains("one"),
        "{texts:?}"
    );
    assert!(texts[2].contains("a.txt") && texts[2].contains("b.txt"), "{texts:?}");
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(!texts.concat().contains("sk-very-secret"), "{texts:?}");
    // Sent again, it is as it was.
    assert_eq!(block_on(chat.attached(parts.clone())).0, parts);
    // The key is not to be read, and there is no terminal in this session.
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains(".env") && notes[1].starts_with("@diff"), "{notes:?}");
}

#[test]
fn what_would_fill_the_context_is_left_out() {
    let server = ModelServer::saying([]);
    let home = home(&server, "chat_completions");
    let config = crate::config(&server.url(), "chat_completions")
        .replace("  default: m\n", "  default: m\n  context_length: 8000\n");
    home.write("config.yaml", &config);
    home.write("long.txt", &"some words on a line, and more words\n".repeat(250));
    home.write("longer.txt", &"some words on a line, and more words\n".repeat(1_500));
    let runtime = runtime(&home, vec![]);
    let chat = open(&runtime, &["file"], Opening::New);
    let at = |name: &str| home.path().join(name).display().to_string();

    let message = format!("@file:{} @file:{}", at("long.txt"), at("longer.txt"));
    let (parts, notes) = block_on(chat.attached(said(&message)));

    assert_eq!(parts.len(), 2, "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("longer.txt was left out")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains('%')), "{notes:?}");
}
