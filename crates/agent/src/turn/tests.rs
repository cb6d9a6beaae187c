//! The machine, one situation at a time.

use std::time::Duration;

use hermes_core::model::{
    AssistantMessage, Finish, Message, ModelCall, ModelError, ModelErrorClass, ModelReply, Part,
};
use hermes_core::outcome::{Outcome, Status};

use super::*;

fn turn(settings: TurnSettings) -> Turn {
    Turn::new(settings, vec![Part::Text { text: "task".to_owned() }])
}

#[expect(clippy::unnecessary_wraps, reason = "as the machine takes it")]
fn text(text: &str, finish: Finish) -> Result<ModelReply, ModelError> {
    let message = AssistantMessage { text: text.to_owned(), finish, ..AssistantMessage::default() };
    Ok(ModelReply { message, ..ModelReply::default() })
}

#[expect(clippy::unnecessary_wraps, reason = "as the machine takes it")]
fn calls(names: &[&str], finish: Finish) -> Result<ModelReply, ModelError> {
    let call = |(at, name): (usize, &&str)| ModelCall {
        id: format!("c{at}"),
        name: (*name).to_owned(),
        arguments: if finish == Finish::Length { r#"{"a": "#.to_owned() } else { format!("[{at}]") },
    };
    let calls = names.iter().enumerate().map(call).collect();
    let message = AssistantMessage { calls, finish, ..AssistantMessage::default() };
    Ok(ModelReply { message, ..ModelReply::default() })
}

fn fail(class: ModelErrorClass) -> Result<ModelReply, ModelError> {
    Err(ModelError { class, provider: "p".to_owned(), message: "broken".to_owned(), retry_after: None })
}

fn outcomes(turn: &Turn, status: Status) -> Vec<Outcome> {
    let Step::Run(calls) = turn.next() else { panic!("nothing to run: {:?}", turn.next()) };
    let outcome = |call: ModelCall| Outcome {
        id: "x".into(),
        given_id: call.id,
        tool: call.name.as_str().into(),
        status,
        body: "{}".to_owned(),
        spilled: None,
        attachments: vec![],
        notes: vec![],
        took: Duration::ZERO,
    };
    calls.into_iter().map(outcome).collect()
}

fn run(turn: &mut Turn, status: Status) {
    record(turn);
    let outcomes = outcomes(turn, status);
    turn.ran(&outcomes, &|_| false);
    record(turn);
}

fn record(turn: &mut Turn) {
    if matches!(turn.next(), Step::Record(_)) {
        turn.recorded(Ok(()));
    }
}

fn end(turn: &mut Turn) -> End {
    record(turn);
    match turn.next() {
        Step::Done(end) => end.clone(),
        other => panic!("not done: {other:?}"),
    }
}

fn asked(turn: &Turn) -> Ask {
    match turn.next() {
        Step::Ask(ask) => ask,
        other => panic!("not asking: {other:?}"),
    }
}

#[test]
fn the_budget_ends_in_last_words_without_tools() {
    let mut turn = turn(TurnSettings { budget: 2, ..TurnSettings::default() });
    record(&mut turn);
    for _ in 0..2 {
        turn.replied(calls(&["t"], Finish::Calls));
        run(&mut turn, Status::Ok);
    }
    assert_eq!(asked(&turn).extra.len(), 1);
    let mut late = turn.clone();
    turn.replied(text("So far so good.", Finish::Stop));
    late.replied(calls(&["t"], Finish::Calls));

    let end_ = end(&mut turn);
    assert_eq!((end_.status, end_.text.as_str()), (TurnStatus::OutOfBudget, "So far so good."));
    assert!(end(&mut late).text.contains("Stopped after 2"));
}

#[test]
fn answers_that_only_run_scripts_cost_nothing_up_to_a_limit() {
    let mut turn = turn(TurnSettings { budget: 2, ..TurnSettings::default() });
    record(&mut turn);
    for answered in 0..4 {
        assert!(asked(&turn).extra.is_empty(), "{answered}");
        turn.replied(calls(&["execute_code"], Finish::Calls));
        run(&mut turn, Status::Ok);
    }
    assert_eq!(asked(&turn).extra.len(), 1);
}

#[test]
fn an_empty_answer_is_asked_for_again_then_from_somebody_else() {
    let mut turn = turn(TurnSettings { models: 2, ..TurnSettings::default() });
    record(&mut turn);
    turn.replied(text("", Finish::Stop));
    assert!(asked(&turn).extra.is_empty());
    turn.replied(text(" ", Finish::Stop));
    assert_eq!(asked(&turn).extra, [Message::user(words::SAY_SOMETHING)]);
    turn.replied(text("", Finish::Stop));

    assert_eq!(asked(&turn).model, 1);
}

#[test]
fn words_beside_the_last_calls_are_the_answer_when_no_others_come() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    let Ok(mut reply) = calls(&["t"], Finish::Calls) else { panic!() };
    reply.message.text = "All done, just saving.".to_owned();
    turn.replied(Ok(reply));
    run(&mut turn, Status::Ok);
    for _ in 0..3 {
        turn.replied(text("", Finish::Stop));
    }

    let end = end(&mut turn);
    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Answered, "All done, just saving."));
}

#[test]
fn a_refusal_goes_to_the_next_model_and_then_fails() {
    let mut turn = turn(TurnSettings { models: 2, ..TurnSettings::default() });
    record(&mut turn);
    turn.replied(text("No.", Finish::Refused));
    assert_eq!(asked(&turn).model, 1);
    turn.replied(text("Never.", Finish::Refused));

    let end = end(&mut turn);
    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Failed, "Never."));
}

#[test]
fn calls_that_are_cut_off_are_asked_for_once_more_and_then_handed_on() {
    let mut turn = turn(TurnSettings { max_tokens: Some(1_000), ..TurnSettings::default() });
    record(&mut turn);
    turn.replied(calls(&["t"], Finish::Length));
    assert_eq!(asked(&turn).max_tokens, Some(2_000));
    turn.replied(calls(&["t"], Finish::Length));
    record(&mut turn);

    assert!(matches!(turn.next(), Step::Run(calls) if calls.len() == 1));
}

#[test]
fn an_answer_is_gone_on_with_four_times_at_most() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    for _ in 0..5 {
        turn.replied(text("x", Finish::Length));
    }

    assert_eq!(end(&mut turn).text, "xxxxx");
}

#[test]
fn a_stream_without_an_end_is_gone_on_with_once() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    turn.replied(text("All of it.", Finish::Unknown));
    turn.replied(text("", Finish::Stop));

    assert_eq!(end(&mut turn).text, "All of it.");
}

#[test]
fn three_batches_of_unknown_tools_are_enough() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    for _ in 0..2 {
        turn.replied(calls(&["nope"], Finish::Calls));
        run(&mut turn, Status::Unknown);
    }
    let mut mixed = turn.clone();
    turn.replied(calls(&["nope"], Finish::Calls));
    record(&mut turn);
    let outcomes = outcomes(&turn, Status::Unknown);
    turn.ran(&outcomes, &|_| false);
    assert_eq!(end(&mut turn).status, TurnStatus::Failed);

    mixed.replied(calls(&["t"], Finish::Calls));
    run(&mut mixed, Status::Ok);
    assert_eq!(asked(&mixed).model, 0);
}

#[test]
fn a_model_that_runs_into_the_same_wall_is_stopped() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    for _ in 0..8 {
        turn.replied(calls(&["t"], Finish::Calls));
        run(&mut turn, Status::Denied);
    }

    assert_eq!(end(&mut turn).status, TurnStatus::Denied);
    assert_eq!(turn.tally().denied, 8);
}

#[test]
fn what_does_not_fit_is_shortened_then_shrunk_then_given_up() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    turn.replied(fail(ModelErrorClass::ContextOverflow));
    assert_eq!(turn.next(), Step::Compact);
    turn.compacted(&Compacted::Shorter);
    turn.replied(fail(ModelErrorClass::ContextOverflow));
    assert_eq!(asked(&turn).max_tokens, Some(4_096));
    turn.replied(fail(ModelErrorClass::ContextOverflow));
    turn.compacted(&Compacted::Same);

    assert_eq!(end(&mut turn).status, TurnStatus::ProviderFailed);
}

#[test]
fn pressure_is_relieved_a_few_times_for_each_answer() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    for _ in 0..3 {
        turn.heard(Heard::Pressure);
        assert_eq!(turn.next(), Step::Compact);
        turn.compacted(&Compacted::Same);
    }
    turn.heard(Heard::Pressure);

    assert_eq!(asked(&turn).model, 0);
}

#[test]
fn calls_nobody_has_run_are_answered_when_the_turn_is_stopped() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    turn.replied(calls(&["a", "b"], Finish::Calls));
    turn.heard(Heard::Interrupt(String::new()));
    let Step::Record(messages) = turn.next() else { panic!() };

    assert_eq!(messages.len(), 4);
    assert_eq!(end(&mut turn).status, TurnStatus::Interrupted);
    assert_eq!(turn.tally().tool_calls, 2);
}

#[test]
fn what_comes_when_nobody_asked_changes_nothing() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    let before = turn.clone();
    turn.ran(&[], &|_| false);
    turn.waited();
    turn.compacted(&Compacted::Same);
    assert_eq!(turn, before);
    turn.replied(text("Done.", Finish::Stop));
    let done = turn.clone();
    turn.replied(text("More.", Finish::Stop));
    turn.heard(Heard::Interrupt("x".to_owned()));

    assert_eq!(turn, done);
}

#[test]
fn last_words_carry_nothing_of_calls_that_were_not_made() {
    let mut turn = turn(TurnSettings { budget: 0, ..TurnSettings::default() });
    record(&mut turn);
    let Ok(mut reply) = calls(&["t"], Finish::Calls) else { panic!() };
    reply.message.text = "So far.".to_owned();
    reply.message.keep.insert("item".to_owned(), "fc_1".into());
    turn.replied(Ok(reply));

    let text = "So far.".to_owned();
    let expected = Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() });
    assert_eq!(turn.next(), Step::Record(&[expected]));
}

#[test]
fn a_model_that_goes_round_in_circles_is_not_asked_to_go_on() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    let circles = "and so on and so forth, ".repeat(300);
    turn.replied(text(&circles, Finish::Length));

    let end = end(&mut turn);
    assert_eq!((end.status, end.text), (TurnStatus::Answered, circles));
}

#[test]
fn an_answer_that_never_ends_is_gone_on_with_a_few_times_only() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    for part in 0..5 {
        assert!(matches!(turn.next(), Step::Ask(_)), "{part}");
        turn.replied(text(&format!("part {part} "), Finish::Length));
    }

    assert_eq!(end(&mut turn).text, "part 0 part 1 part 2 part 3 part 4 ");
}

#[test]
fn the_same_calls_with_the_same_results_come_to_an_end() {
    let mut turn = turn(TurnSettings::default());
    record(&mut turn);
    let mut batches = 0;
    while matches!(turn.next(), Step::Ask(_)) {
        turn.replied(calls(&["t"], Finish::Calls));
        run(&mut turn, Status::Ok);
        batches += 1;
    }

    assert_eq!(batches, 30);
    assert_eq!(end(&mut turn).error.as_deref(), Some(words::NOTHING_NEW));
}
