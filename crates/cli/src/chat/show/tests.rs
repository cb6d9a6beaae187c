//! A turn from its first word to its last.

use hermes::core::model::Usage;
use serde_json::{Map, json};

use super::*;

const CANVAS: Canvas = Canvas { width: 50, colour: false };

pub(crate) fn ended(status: TurnStatus, text: &str) -> TurnEnd {
    TurnEnd {
        status,
        text: text.to_owned(),
        error: None,
        session: "s".to_owned(),
        model: "acme/large".to_owned(),
        model_calls: 1,
        tool_calls: 0,
        denied: 0,
        usage: Usage::default(),
        cost_usd: Some(0.5),
        seconds: 1.0,
    }
}

fn show() -> Show {
    Show::new(CANVAS, Status::default(), Live::default())
}

fn text(text: &str) -> Event {
    Event::Text { text: text.to_owned() }
}

fn all(show: &mut Show, events: Vec<Event>) -> Vec<String> {
    let mut lines = Vec::new();
    for event in events {
        lines.extend(show.event(event, Duration::ZERO));
        lines.extend(show.settle());
    }
    lines.iter().map(Line::text).collect()
}

fn call_began() -> Event {
    let arguments: Map<_, _> = json!({ "path": "a.rs" }).as_object().cloned().unwrap();
    Event::CallBegan { id: "1".into(), tool: "read_file".into(), arguments }
}

fn call_ended() -> Event {
    Event::CallEnded {
        id: "1".into(),
        tool: "read_file".into(),
        status: "ok",
        seconds: 0.2,
        result: "{}".into(),
    }
}

#[test]
fn words_and_tools_keep_their_distance() {
    let mut show = show();
    show.begin(Duration::ZERO);

    let mut lines = all(
        &mut show,
        vec![text("Let me "), text("look."), call_began(), call_ended(), text("Done.\n\nReally.")],
    );
    lines.extend(show.end(&ended(TurnStatus::Answered, "Done.\n\nReally.")).iter().map(Line::text));

    assert_eq!(lines, ["Let me look.", "", "┊ ⚡ read_file a.rs  0.2s", "", "Done.", "", "Really."]);
}

#[test]
fn an_answer_that_did_not_stream_is_shown_at_the_end() {
    let mut show = show();
    all(&mut show, vec![text("Looking."), call_began(), call_ended()]);

    let lines: Vec<String> =
        show.end(&ended(TurnStatus::Answered, "It is *a*.")).iter().map(Line::text).collect();

    assert_eq!(lines, ["", "It is a."]);
}

#[test]
fn words_that_do_not_count_are_taken_back() {
    let mut show = show();

    let quiet = all(&mut show, vec![text("half a wo"), Event::TextVoid]);
    let loud = all(&mut show, vec![text("One.\n\nTw"), Event::TextVoid]);

    assert!(quiet.is_empty());
    assert_eq!(loud[0], "One.");
    assert!(loud[1].contains("do not count"), "{loud:?}");
    assert!(show.rows(Duration::ZERO).iter().all(|row| !row.text().contains("Tw")));
}

#[test]
fn what_is_not_final_is_shown_while_it_changes() {
    let mut show = show();
    show.begin(Duration::ZERO);
    assert_eq!(show.rows(Duration::from_secs(3))[0].text(), "⠋ thinking  3.0s");

    all(&mut show, vec![text("Hel")]);
    let rows: Vec<String> = show.rows(Duration::from_secs(3)).iter().map(Line::text).collect();

    assert_eq!(rows, ["Hel", "", "⠋ answering  3.0s"]);
}

#[test]
fn thoughts_are_shown_only_when_wanted() {
    let thought = || Event::Reasoning { text: "first\nsecond".to_owned() };
    let mut show = show();

    assert!(all(&mut show, vec![thought(), text("")]).is_empty());
    show.reasoning = true;
    assert_eq!(all(&mut show, vec![thought(), text("")]), ["first", "second"]);
}

#[test]
fn tokens_and_cost_add_up() {
    let mut show = show();
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let answered = || Event::Answered { model: "acme/small".into(), usage, context_used: Some(0.1) };

    all(&mut show, vec![answered(), answered()]);
    show.end(&ended(TurnStatus::Answered, ""));
    show.end(&ended(TurnStatus::Answered, ""));

    assert_eq!(show.status.usage.input, 20);
    assert_eq!(show.status.cost_usd, Some(1.0));
    assert_eq!(show.status.context_used, Some(0.1));
}

#[test]
fn a_turn_that_failed_says_why() {
    let mut show = show();
    let mut end = ended(TurnStatus::ProviderFailed, "");
    end.error = Some("acme: no key".to_owned());

    let lines: Vec<String> = show.end(&end).iter().map(Line::text).collect();

    assert_eq!(lines, ["✗ no model could answer: acme: no key"]);
}
