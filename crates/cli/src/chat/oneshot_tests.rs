//! What is written where, and which exit code says what.

use futures::executor::block_on;

use super::*;
use crate::chat::double::{Act, Double, began, ended, ended_turn, text};

/// Answers on paper.
fn asked(talk: &Double, format: Format, aside: Aside) -> (String, String) {
    let cancel = CancellationToken::new();
    let writer = Writer {
        format,
        out: Mutex::new(Vec::new()),
        aside: Mutex::new(Side { kind: aside, out: Vec::new(), show: show(aside, talk) }),
        closed: AtomicBool::new(false),
        cancel: cancel.clone(),
    };
    let parts = vec![Part::Text { text: "how?".to_owned() }];
    block_on(ask(talk, parts, &writer, cancel)).unwrap();
    let out = writer.out.into_inner().unwrap();
    let aside = writer.aside.into_inner().unwrap().out;
    (String::from_utf8(out).unwrap(), String::from_utf8(aside).unwrap())
}

fn talk() -> Double {
    let acts = vec![
        text("Let me look."),
        began("1", "read_file", &json!({ "path": "a.rs" })),
        ended("1", "read_file", "ok", &json!({ "content": "x" })),
        text("It is **fine**."),
    ];
    Double::new().turn(acts, TurnStatus::Answered, "It is **fine**.")
}

#[test]
fn standard_output_is_the_answer_and_nothing_else() {
    let (out, aside) = asked(&talk(), Format::Text, Aside::All(Verbosity::All));

    assert_eq!(out, "It is **fine**.\n");
    assert_eq!(
        aside,
        "┊ 📖 read_file a.rs  0.5s\nsession_id: 20260101_120000_abcdef · acme/large · ↑1.2k ↓40 · 0 calls · $0.0123 · 1.5s\n"
    );
}

#[test]
fn quiet_leaves_the_session_and_silent_nothing() {
    assert_eq!(asked(&talk(), Format::Text, Aside::Session).1, "\nsession_id: 20260101_120000_abcdef\n");
    assert_eq!(asked(&talk(), Format::Text, Aside::Nothing).1, "");
}

#[test]
fn json_is_one_document_with_its_version() {
    let (out, _) = asked(&talk(), Format::Json, Aside::Nothing);

    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(out.lines().count(), 1);
    assert_eq!(told["version"], 1);
    assert_eq!(told["type"], "turn_ended");
    assert_eq!(told["status"], "answered");
    assert_eq!(told["text"], "It is **fine**.");
}

#[test]
fn stream_json_begins_with_its_version_and_ends_once() {
    let (out, _) = asked(&talk(), Format::StreamJson, Aside::Nothing);

    let told: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = told.iter().filter_map(|one| one["type"].as_str()).collect();
    assert_eq!(kinds, ["start", "text", "call_began", "call_ended", "text", "turn_ended"]);
    assert_eq!(told[0]["version"], 1);
    assert_eq!(told[0]["tools"][1], "read_file");
}

#[test]
fn a_turn_that_failed_is_told_on_standard_error_also_when_silent() {
    let talk = Double::new().turn(vec![], TurnStatus::ProviderFailed, "");

    assert_eq!(
        asked(&talk, Format::Text, Aside::Nothing),
        (String::new(), "error: no model could answer\n".to_owned())
    );
}

#[test]
fn the_exit_code_says_what_became_of_it() {
    let code = |status| exit_code(&ended_turn(status, ""), None);

    assert_eq!(code(TurnStatus::Answered), 0);
    assert_eq!(code(TurnStatus::Failed), 1);
    assert_eq!(code(TurnStatus::OutOfBudget), 1);
    assert_eq!(code(TurnStatus::Denied), 3);
    assert_eq!(code(TurnStatus::ProviderFailed), 4);
    assert_eq!(code(TurnStatus::Interrupted), 130);
    assert_eq!(exit_code(&ended_turn(TurnStatus::Interrupted, ""), Some(143)), 143);
}

/// A reader who has left.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_who_leaves_ends_the_turn_quietly() {
    let talk = Double::new().turn(vec![text("a"), Act::Hang], TurnStatus::Answered, "");
    let cancel = CancellationToken::new();
    let writer = Writer {
        format: Format::StreamJson,
        out: Mutex::new(Gone),
        aside: Mutex::new(Side { kind: Aside::Nothing, out: io::sink(), show: show(Aside::Nothing, &talk) }),
        closed: AtomicBool::new(false),
        cancel: cancel.clone(),
    };

    let left = block_on(ask(&talk, vec![], &writer, cancel));

    assert!(matches!(left, Err(Failure::OutputClosed)));
}
