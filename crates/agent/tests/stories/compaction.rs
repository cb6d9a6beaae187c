//! Conversations that grow too long, from end to end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{Stage, shape};
use futures::executor::block_on;
use futures::future::join;
use hermes_agent::{AgentSettings, TurnStatus};
use hermes_core::model::{AssistantMessage, Message, Model, ModelErrorClass, Part, Usage};
use hermes_testkit::{Latch, Line, ScriptedModel};

fn small(lines: impl IntoIterator<Item = Line>) -> ScriptedModel {
    ScriptedModel::new("one/small", lines).context(4_096)
}

/// A conversation of this many exchanges.
fn fill(stage: &Stage, exchanges: usize) {
    let mut messages = stage.log.messages.lock().unwrap();
    for n in 0..exchanges {
        messages.push(Message::user(format!("Question {n}")));
        let text = format!("Answer {n}. {}", "and so on ".repeat(60));
        messages.push(Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }));
    }
}

fn everything(messages: &[Message]) -> String {
    serde_json::to_string(messages).unwrap()
}

#[test]
fn a_context_of_four_thousand_tokens_carries_a_long_turn() {
    let steps = (0..40).map(|n| Line::calls([("1", "echo", format!("[{n}]").as_str())]));
    let model = small(steps.chain([Line::text("All done.")]));
    let stage = Stage::with([model], AgentSettings::default());
    stage
        .tools
        .bodies
        .lock()
        .unwrap()
        .insert("echo".to_owned(), format!("{{\"text\":\"{}\"}}", "data ".repeat(400)));
    *stage.tools.todos.lock().unwrap() = Some("- [ ] feed the cat".to_owned());
    // Summaries come from a model that always fails.
    let mut stage = stage;
    stage.driver.summary_model = Some(Arc::new(ScriptedModel::new("sum/broken", [])) as Arc<dyn Model>);
    let end = stage.turn_now("Translate the whole book.");

    assert_eq!((end.status, end.text.as_str()), (TurnStatus::Answered, "All done."));
    assert!(stage.log.replaced.load(Ordering::SeqCst) > 3);
    for request in stage.models[0].asked() {
        let text = everything(&request.messages);
        assert!(text.contains("Translate the whole book."));
        assert!(text.len() / 4 < 4_096, "{} tokens", text.len() / 4);
    }
    let last = stage.models[0].asked().pop().unwrap();
    assert!(everything(&last.messages).contains("feed the cat"));
}

#[test]
fn what_was_left_out_is_summed_up_by_the_model() {
    let mut stage = Stage::with([small([Line::text("Hello.")])], AgentSettings::default());
    let writer = Arc::new(ScriptedModel::new("sum/up", [Line::text("They talked about numbers.")]));
    stage.driver.summary_model = Some(writer.clone() as Arc<dyn Model>);
    fill(&stage, 30);
    let end = stage.turn_now("Still there?");

    assert_eq!(end.status, TurnStatus::Answered);
    let kept = everything(&stage.log.now());
    assert!(kept.contains("They talked about numbers.") && kept.contains("Question 0"), "{kept}");
    assert!(kept.contains("The person also said"));
    assert_eq!(writer.times_asked(), 1);
    assert_eq!(stage.log.spent.lock().unwrap().iter().filter(|spent| spent.task == "compression").count(), 1);
    assert!(shape(&stage.log.now()).ends_with("ua"));
    assert!(stage.notices().iter().any(|notice| notice.contains("shortened from")));
}

#[test]
fn a_model_that_says_it_does_not_fit_is_believed() {
    let lines = [Line::fail(ModelErrorClass::ContextOverflow), Line::text("Now it fits.")];
    let mut stage =
        Stage::with([ScriptedModel::new("one/a", lines).context(1_000_000)], AgentSettings::default());
    stage.driver.summary_model = Some(Arc::new(ScriptedModel::new("sum/broken", [])) as Arc<dyn Model>);
    fill(&stage, 30);
    let before = everything(&stage.log.now()).len();
    let end = stage.turn_now("Still there?");

    assert_eq!(end.text, "Now it fits.");
    assert!(everything(&stage.log.now()).len() < before * 7 / 10);
}

#[test]
fn a_record_that_cannot_take_the_shorter_conversation_keeps_the_longer() {
    for broken in ["replace", "page"] {
        let stage = Stage::with([small([Line::text("Hello.")])], AgentSettings::default());
        fill(&stage, if broken == "replace" { 30 } else { 1 });
        let call = hermes_core::model::ModelCall {
            id: "1".to_owned(),
            name: "t".to_owned(),
            arguments: "{}".to_owned(),
        };
        stage.log.messages.lock().unwrap().extend([
            Message::user("And now?"),
            Message::Assistant(AssistantMessage { calls: vec![call], ..AssistantMessage::default() }),
            Message::Tool {
                call_id: "1".to_owned(),
                name: "t".to_owned(),
                content: "x".repeat(20_000),
                images: vec![],
            },
            Message::Assistant(AssistantMessage { text: "Fine.".to_owned(), ..AssistantMessage::default() }),
        ]);
        let before = stage.log.now();
        stage.log.cannot_replace.store(broken == "replace", Ordering::SeqCst);
        stage.log.cannot_page.store(broken == "page", Ordering::SeqCst);
        let end = stage.turn_now("Still there?");

        assert_eq!(stage.log.now()[..before.len()], before[..], "{broken}");
        assert_eq!(end.model_calls, 1, "{broken}");
        assert!(stage.notices().iter().any(|notice| notice.contains("could not be shortened")), "{broken}");
    }
}

#[test]
fn somebody_can_ask_for_it() {
    let stage = Stage::saying([Line::text("Numbers, above all primes.")]);
    fill(&stage, 20);
    let noticed = std::sync::Mutex::new(0);
    let sink = |_| *noticed.lock().unwrap() += 1;
    let done = block_on(stage.driver.compact_now(Some("primes"), &sink, &stage.cancel)).unwrap();

    assert!(done.after * 2 < done.before, "{done:?}");
    assert_eq!(*noticed.lock().unwrap(), 1);
    let asked = everything(&stage.models[0].asked()[0].messages);
    assert!(asked.contains("Pay attention above all to: primes"));
    let empty = Stage::saying([]);
    assert!(block_on(empty.driver.compact_now(None, &sink, &empty.cancel)).is_err());
}

#[test]
fn what_a_provider_counts_corrects_the_estimate() {
    // Counts three tokens where we estimate one: the same conversation is then too long.
    let heavy = Usage { input: 6_000, output: 10, ..Usage::default() };
    let lines = [Line::text("One.").usage(heavy), Line::text("Summary."), Line::text("Two.")];
    let stage = Stage::with([ScriptedModel::new("one/a", lines).context(8_000)], AgentSettings::default());
    fill(&stage, 12);
    stage.turn_now("First");
    assert_eq!(stage.log.replaced.load(Ordering::SeqCst), 0);
    let end = stage.turn_now("Second");

    assert_eq!(end.text, "Two.");
    assert_eq!(stage.log.replaced.load(Ordering::SeqCst), 1);
}

#[test]
fn a_message_that_fills_the_context_alone_is_cut_and_paged() {
    let lines = [Line::fail(ModelErrorClass::ContextOverflow), Line::text("Long indeed.")];
    let stage = Stage::with([small(lines)], AgentSettings::default());
    let end = stage.turn_now(&"word ".repeat(20_000));

    assert_eq!(end.status, TurnStatus::Answered, "{:?}", stage.notices());
    assert_eq!(stage.log.pages.lock().unwrap().len(), 1);
    let Message::User { content } = &stage.log.now()[0] else { panic!() };
    let Part::Text { text } = &content[0] else { panic!() };
    assert!(text.contains("page-1") && text.len() < 10_000);
}

#[test]
fn a_turn_stopped_while_it_sums_up_leaves_the_record_as_it_was() {
    let latch = Arc::new(Latch::default());
    let mut stage = Stage::with([small([Line::text("Hello.")])], AgentSettings::default());
    let writer = ScriptedModel::new("sum/up", [Line::text("Summary.").held_by(&latch)]);
    stage.driver.summary_model = Some(Arc::new(writer) as Arc<dyn Model>);
    fill(&stage, 30);
    let before = stage.log.now();
    let (end, ()) = block_on(join(stage.turn("Still there?"), async {
        latch.until_arrived(1).await;
        stage.cancel.cancel();
    }));

    assert_eq!(end.status, TurnStatus::Interrupted);
    assert_eq!(stage.log.now()[..before.len()], before[..]);
    assert_eq!(shape(&stage.log.now()[before.len()..]), "ua");
}

#[test]
fn a_summary_model_that_never_answers_is_not_waited_for_long() {
    let mut stage = Stage::with([small([Line::text("Hello.")])], AgentSettings::default());
    stage.driver.summary_model =
        Some(Arc::new(ScriptedModel::new("sum/up", [Line::silence()])) as Arc<dyn Model>);
    fill(&stage, 30);
    let end = stage.turn_with_time("Still there?");

    assert_eq!(end.status, TurnStatus::Answered);
    assert!(end.seconds < 65.0, "{}", end.seconds);
    assert!(everything(&stage.log.now()).contains("The person also said"));
}
