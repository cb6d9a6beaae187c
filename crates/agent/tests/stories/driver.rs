//! Turns from end to end, with a scripted model, a record in memory and a clock that stands still.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{Stage, shape};
use futures::executor::block_on;
use futures::future::join;
use hermes_agent::prompt::settled;
use hermes_agent::{AgentSettings, Event, PromptFacts, TurnStatus};
use hermes_core::model::{Finish, Message, ModelErrorClass, ModelEvent, Price, Usage};
use hermes_testkit::{Latch, Line, ScriptedModel};

#[test]
fn a_question_is_answered_and_recorded() {
    let stage = Stage::saying([Line::text("Hello.")]);
    let end = stage.turn_now("Hi");

    assert_eq!((end.status, end.text.as_str(), end.model_calls), (TurnStatus::Answered, "Hello.", 1));
    assert_eq!(shape(&stage.log.now()), "ua");
    assert_eq!(stage.log.synced.load(Ordering::SeqCst), 1);
    assert_eq!(stage.log.spent.lock().unwrap().len(), 1);
    assert_eq!(stage.text_events(), "Hello.");
    let events = stage.events.lock().unwrap();
    assert!(matches!(events.first(), Some(Event::TurnBegan { .. })));
    assert!(matches!(events.last(), Some(Event::TurnEnded(_))));
}

#[test]
fn an_answer_with_calls_is_recorded_before_they_run() {
    let stage = Stage::saying([Line::calls([("1", "echo", "{}"), ("2", "echo", "[]")]), Line::text("Done.")]);
    let end = stage.turn_now("Do it");

    assert_eq!(end.tool_calls, 2);
    assert_eq!(shape(&stage.tools.seen.lock().unwrap()[0]), "uc");
    assert_eq!(shape(&stage.log.now()), "uctta");
}

#[test]
fn the_prefix_and_every_message_sent_stay_the_same_for_a_whole_session() {
    let lines = || (0..5).flat_map(|_| [Line::calls([("1", "echo", "{}")]), Line::text("Done.")]);
    let stage = Stage::saying(lines());
    for _ in 0..5 {
        stage.turn_now("Again");
    }

    let asked = stage.models[0].asked();
    assert_eq!(asked.len(), 10);
    for pair in asked.windows(2) {
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages[..]);
    }
}

#[test]
fn a_record_that_cannot_be_written_stops_the_turn_before_anything_runs() {
    let stage = Stage::saying([Line::calls([("1", "echo", "{}")]), Line::text("Done.")]);
    *stage.log.works_for.lock().unwrap() = Some(1);
    let end = stage.turn_now("Do it");

    assert_eq!(end.status, TurnStatus::Failed);
    assert!(end.error.unwrap().contains("the disk is full"));
    assert!(stage.tools.ran.lock().unwrap().is_empty());

    let stage = Stage::saying([Line::text("Hello.")]);
    *stage.log.works_for.lock().unwrap() = Some(0);
    assert_eq!(stage.turn_now("Hi").status, TurnStatus::Failed);
    assert_eq!(stage.models[0].times_asked(), 0);
}

#[test]
fn words_that_could_not_be_recorded_are_still_handed_back() {
    let stage = Stage::saying([Line::text("Hello.")]);
    *stage.log.works_for.lock().unwrap() = Some(1);
    let end = stage.turn_now("Hi");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Failed, "Hello."));
}

#[test]
fn a_stopped_answer_is_kept_as_far_as_it_came() {
    let latch = Arc::new(Latch::default());
    let line = Line::text("never").streaming([ModelEvent::Text("Once upon".to_owned())]).held_by(&latch);
    let stage = Stage::saying([line, Line::text("Fine.")]);
    let (end, ()) = block_on(join(stage.turn("Tell me"), async {
        latch.until_arrived(1).await;
        stage.cancel.cancel();
    }));

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Interrupted, "Once upon"));
    assert_eq!(shape(&stage.log.now()), "ua");
}

#[test]
fn stopped_tools_get_a_result_and_the_conversation_goes_on() {
    let calls = [("1", "echo", "{}"), ("2", "stuck_a", "{}"), ("3", "deaf", "{}")];
    let mut stage = Stage::saying([Line::calls(calls), Line::text("Fine.")]);
    let (end, ()) = block_on(join(stage.turn("Do it"), async {
        stage.host.until_sleeping(Duration::from_hours(5)).await;
        stage.cancel.cancel();
        stage.host.pass(Duration::from_secs(5)).await;
    }));

    assert_eq!(end.status, TurnStatus::Interrupted);
    assert_eq!(shape(&stage.log.now()), "ucttta");
    stage.cancel = tokio_util::sync::CancellationToken::new();
    assert_eq!(stage.turn_now("Go on").status, TurnStatus::Answered);
    assert_eq!(shape(&stage.log.now()), "uctttaua");
}

#[test]
fn a_turn_that_is_stopped_before_it_begins_asks_nobody() {
    let stage = Stage::saying([Line::text("Hello.")]);
    stage.cancel.cancel();
    let end = stage.turn_now("Hi");

    assert_eq!((end.status, end.model_calls), (TurnStatus::Interrupted, 0));
    assert_eq!(shape(&stage.log.now()), "ua");
}

#[test]
fn steering_is_a_message_of_the_person_after_the_batch() {
    let stage = Stage::saying([Line::calls([("1", "echo", "{}")]), Line::text("Done.")]);
    stage.steering.push("Use metric units");
    stage.steering.push("and hurry");
    // Words that are there before the first answer wait for the results of its calls.
    let end = stage.turn_now("Do it");

    assert_eq!(end.status, TurnStatus::Answered);
    assert_eq!(shape(&stage.log.now()), "uctua");
    assert_eq!(stage.log.now()[3], Message::user("Use metric units\n\nand hurry"));
}

#[test]
fn steering_that_comes_too_late_for_a_batch_is_answered_in_the_same_turn() {
    let stage = Stage::saying([Line::text("Done."), Line::text("In metres: 3.")]);
    stage.steering.push("In metres please");
    let end = stage.turn_now("How long is it?");

    assert_eq!(end.text, "In metres: 3.");
    assert_eq!(shape(&stage.log.now()), "uaua");
}

#[test]
fn steering_nobody_read_stays_in_the_queue() {
    let stage = Stage::saying([Line::fail(ModelErrorClass::Auth)]);
    stage.steering.push("hello?");
    let end = stage.turn_now("Hi");

    assert_eq!(end.status, TurnStatus::ProviderFailed);
    assert_eq!(stage.steering.take(), ["hello?"]);
}

#[test]
fn a_silent_model_is_left_for_the_next_within_its_patience() {
    let settings = AgentSettings { first_word: Duration::from_secs(8), ..AgentSettings::default() };
    let models = [
        ScriptedModel::new("one/a", [Line::silence()]),
        ScriptedModel::new("two/b", [Line::text("Here I am.")]),
    ];
    let stage = Stage::with(models, settings);
    let end = stage.turn_with_time("Hi");

    assert_eq!(
        (end.status, end.text.as_str(), end.model.as_str()),
        (TurnStatus::Answered, "Here I am.", "two/b")
    );
    assert!(end.seconds <= 9.0, "{}", end.seconds);
    assert!(stage.notices()[0].contains("going on with two/b"), "{:?}", stage.notices());
}

#[test]
fn a_model_that_stalls_in_the_middle_has_its_words_taken_back() {
    let models = [
        ScriptedModel::new("one/a", [Line::silence().streaming([ModelEvent::Text("Well".to_owned())])]),
        ScriptedModel::new("two/b", [Line::text("Here I am.")]),
    ];
    let stage = Stage::with(models, AgentSettings::default());
    let end = stage.turn_with_time("Hi");

    assert_eq!(end.text, "Here I am.");
    assert_eq!(stage.text_events(), "Well↺Here I am.");
}

#[test]
fn what_a_provider_asks_for_is_waited_out() {
    let refused = Line::fail(ModelErrorClass::RateLimit).retry_after(Duration::from_secs(20));
    let stage = Stage::saying([refused, Line::text("Hello.")]);
    let end = stage.turn_with_time("Hi");

    assert_eq!(end.status, TurnStatus::Answered);
    assert!((20.0..22.0).contains(&end.seconds), "{}", end.seconds);
}

#[test]
fn a_model_that_had_enough_is_not_the_first_to_be_asked_next_time() {
    let models = [
        ScriptedModel::new("one/a", [Line::fail(ModelErrorClass::Billing), Line::text("I am back.")]),
        ScriptedModel::new("two/b", [Line::text("One."), Line::text("Two.")]),
    ];
    let stage = Stage::with(models, AgentSettings::default());

    assert_eq!(stage.turn_now("Hi").text, "One.");
    assert_eq!(stage.turn_now("Hi").text, "Two.");
    stage.host.advance(Duration::from_mins(2));
    assert_eq!(stage.turn_now("Hi").text, "I am back.");
}

#[test]
fn the_first_model_is_tried_again_when_the_others_cannot_help() {
    let models = [
        ScriptedModel::new("one/a", [Line::fail(ModelErrorClass::Timeout), Line::text("Sorry, here.")]),
        ScriptedModel::new("two/b", [Line::fail(ModelErrorClass::Auth)]),
    ];
    let stage = Stage::with(models, AgentSettings::default());

    assert_eq!(stage.turn_now("Hi").text, "Sorry, here.");
}

#[test]
fn a_turn_has_one_deadline() {
    let settings = AgentSettings { deadline: Duration::from_secs(30), ..AgentSettings::default() };
    let silent = Line::silence().streaming([ModelEvent::Text("So".to_owned())]);
    let stage = Stage::with([ScriptedModel::new("one/a", [silent])], settings);
    let end = stage.turn_with_time("Hi");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Failed, "So"));
    assert!((30.0..32.0).contains(&end.seconds), "{}", end.seconds);
    assert_eq!(shape(&stage.log.now()), "ua");
}

#[test]
fn a_model_or_tool_that_breaks_breaks_nothing_else() {
    let stage = Stage::saying([Line::panic(), Line::calls([("1", "panic", "{}")]), Line::text("Oh well.")]);
    let end = stage.turn_with_time("Hi");

    assert_eq!(end.text, "Oh well.");
    assert_eq!(shape(&stage.log.now()), "ucta");
}

#[test]
fn a_long_answer_is_put_together_from_its_parts() {
    let stage = Stage::saying([
        Line::text("One, ").finish(Finish::Length),
        Line::text("two, ").finish(Finish::Length),
        Line::fail(ModelErrorClass::Server).streaming([ModelEvent::Text("thr".to_owned())]),
        Line::text("three."),
    ]);
    let end = stage.turn_with_time("Count");

    assert_eq!(end.text, "One, two, three.");
    assert_eq!(stage.text_events(), "One, two, thr↺One, two, three.");
    assert_eq!(shape(&stage.log.now()), "ua");
    let last = stage.models[0].asked().pop().unwrap();
    assert_eq!(shape(&last.messages), "uau");
}

#[test]
fn a_model_that_does_not_stream_is_shown_all_the_same() {
    let stage = Stage::saying([Line::text("Hello.").streaming([])]);
    stage.turn_now("Hi");

    assert_eq!(stage.text_events(), "Hello.");
}

#[test]
fn the_price_of_a_turn_is_the_sum_of_its_answers() {
    let price = Price { input: 1.0, output: 10.0, cache_read: 0.1, cache_write: 1.0 };
    let used = Usage { input: 1_000_000, output: 100_000, ..Usage::default() };
    let lines = [Line::calls([("1", "echo", "{}")]).usage(used), Line::text("Done.").usage(used)];
    let model = ScriptedModel::new("one/a", lines).price(price).context(2_000_000);
    let stage = Stage::with([model], AgentSettings::default());
    let end = stage.turn_now("Do it");

    assert!((end.cost_usd.unwrap() - 4.0).abs() < 1e-9);
    assert_eq!(end.usage.input, 2_000_000);
    let events = stage.events.lock().unwrap();
    let used = events.iter().find_map(|event| match event {
        Event::Answered { context_used, .. } => *context_used,
        _ => None,
    });
    assert_eq!(used, Some(0.55));
}

#[test]
fn a_killed_session_goes_on() {
    let stage = Stage::saying([Line::text("Hello again.")]);
    let killed = vec![
        Message::user("Do it"),
        Message::Assistant(hermes_core::model::AssistantMessage {
            calls: vec![hermes_core::model::ModelCall {
                id: "1".to_owned(),
                name: "echo".to_owned(),
                arguments: "{}".to_owned(),
            }],
            ..Default::default()
        }),
    ];
    *stage.log.messages.lock().unwrap() = killed;
    let end = stage.turn_now("Still there?");

    assert_eq!(end.text, "Hello again.");
    assert_eq!(shape(&stage.log.now()), "uctaua");
}

#[test]
fn nothing_but_denials_is_a_denied_turn() {
    let stage = Stage::saying([
        Line::calls([("1", "look_around", "{}")]),
        Line::calls([("2", "deny_rm", "{}")]),
        Line::text("I may not."),
    ]);
    let end = stage.turn_now("Remove it");
    assert_eq!((end.status, end.denied, end.text.as_str()), (TurnStatus::Denied, 1, "I may not."));

    let stage = Stage::saying([
        Line::calls([("1", "deny_rm", "{}")]),
        Line::calls([("2", "trash", "{}")]),
        Line::text("Done another way."),
    ]);
    assert_eq!(stage.turn_now("Remove it").status, TurnStatus::Answered);
}

#[test]
fn the_prompt_a_session_began_with_is_the_one_it_keeps() {
    let stage = Stage::saying([]);
    let facts = PromptFacts { date: Some("2026-01-31".to_owned()), ..PromptFacts::default() };
    let first = block_on(settled(&*stage.log, &facts)).unwrap();
    let later = PromptFacts { date: Some("2026-02-01".to_owned()), ..PromptFacts::default() };

    assert_eq!(block_on(settled(&*stage.log, &later)).unwrap(), first);
}

#[test]
fn two_hundred_sessions_at_once_are_cheap() {
    let latch = Arc::new(Latch::default());
    let stages: Vec<Stage> = (0..200).map(|_| Stage::saying([Line::text("Done.").held_by(&latch)])).collect();
    let turns = futures::future::join_all(stages.iter().map(|stage| stage.turn("Hi")));
    let (ends, ()) = block_on(join(turns, async {
        latch.until_arrived(200).await;
        latch.open();
    }));

    assert!(ends.iter().all(|end| end.status == TurnStatus::Answered));
    let turn = stages[0].turn("Hi");
    assert!(size_of_val(&turn) < 16 * 1024, "{} bytes", size_of_val(&turn));
}

#[test]
fn a_model_that_says_the_same_for_ever_is_stopped() {
    let latch = Arc::new(Latch::default());
    let words = (0..2000).map(|_| ModelEvent::Text("I am not sure. ".to_owned()));
    let stage = Stage::saying([Line::text("never").streaming(words).held_by(&latch)]);
    let end = stage.turn_now("Are you sure?");

    assert_eq!((end.status, end.model_calls), (TurnStatus::Answered, 1));
    assert!(end.text.starts_with("I am not sure. I am"), "{}", end.text);
    assert!(stage.notices()[0].contains("again and again"));
    assert_eq!(shape(&stage.log.now()), "ua");
}

#[test]
fn an_answer_that_is_gone_on_with_for_ever_ends_with_the_turn() {
    let settings = AgentSettings { deadline: Duration::from_secs(100), ..AgentSettings::default() };
    let part = |text: &str| Line::text(text).finish(Finish::Length);
    let silent = Line::silence().streaming([ModelEvent::Text("And".to_owned())]);
    let script = [part("Part 1. "), part("Part 2. "), silent];
    let stage = Stage::with([ScriptedModel::new("one/a", script)], settings);
    let end = stage.turn_with_time("Tell me everything");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Failed, "Part 1. Part 2. And"));
    assert!((100.0..102.0).contains(&end.seconds), "{}", end.seconds);
}

#[test]
fn a_model_that_stands_in_reads_its_own_name() {
    let models = [
        ScriptedModel::new("one/a", [Line::fail(ModelErrorClass::Auth)]),
        ScriptedModel::new("two/b", [Line::text("Hello.")]),
    ];
    let mut stage = Stage::with(models, AgentSettings::default());
    stage.driver.system = "You are a test.\n\nModel: a\nProvider: one".into();
    let end = stage.turn_now("Who are you?");

    assert_eq!((end.status, end.model.as_str()), (TurnStatus::Answered, "two/b"));
    assert_eq!(&*stage.models[0].asked()[0].system, "You are a test.\n\nModel: a\nProvider: one");
    assert_eq!(&*stage.models[1].asked()[0].system, "You are a test.\n\nModel: b\nProvider: two");
}

#[test]
fn another_programs_turn_is_waited_for_and_said_once() {
    let stage = Stage::saying([Line::text("Hello.")]);
    stage.log.busy_for.store(5, Ordering::SeqCst);
    let end = stage.turn_with_time("Hi");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Answered, "Hello."));
    assert_eq!(stage.notices(), ["another program is in a turn of this session; waiting for its end"]);
}

#[test]
fn a_turn_of_another_program_that_does_not_end_is_not_waited_for_for_ever() {
    let stage = Stage::saying([Line::text("Hello.")]);
    stage.log.busy_for.store(u32::MAX, Ordering::SeqCst);
    let end = stage.turn_with_time("Hi");

    assert_eq!(end.status, TurnStatus::Failed);
    let why = "another program has been in a turn of this session for 5 minutes: wait for its end, or begin \
               another session";
    assert_eq!(end.error.as_deref(), Some(why));
    assert_eq!(shape(&stage.log.now()), "");
}

#[test]
fn waiting_for_another_programs_turn_can_be_interrupted() {
    let stage = Stage::saying([Line::text("Hello.")]);
    stage.log.busy_for.store(u32::MAX, Ordering::SeqCst);
    stage.cancel.cancel();
    let end = stage.turn_now("Hi");

    assert_eq!(end.status, TurnStatus::Interrupted);
    assert_eq!(shape(&stage.log.now()), "");
}
