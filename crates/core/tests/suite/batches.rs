//! Several calls of one answer: what overlaps, what waits, what stops.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::join;
use hermes_core::call::ToolCall;
use hermes_core::effect::{Act, ActKind, Command, Effect};
use hermes_core::error::ToolError;
use hermes_core::outcome::{Outcome, Status};
use hermes_core::policy::{Reason, Verdict};
use hermes_core::road::RoadLimits;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{
    Latch, MemoryJournal, Record, RecordingHook, Rig, RigBuilder, ScriptedApprover, any_object, echo, judged,
    stuck, tool,
};
use serde_json::{Value, json};

use crate::{error, json};

fn read(path: &str) -> Vec<Effect> {
    vec![Effect::Read(path.into())]
}

fn write(path: &str) -> Vec<Effect> {
    vec![Effect::Write(path.into())]
}

/// Whether two calls with these effects run at the same time.
fn overlap(one: Vec<Effect>, other: Vec<Effect>, alone: bool) -> bool {
    let (first, second) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let other = stuck("second", other, &second);
    let other = if alone { other.alone() } else { other };
    at_once([stuck("first", one, &first), other], &first, &second)
}

/// The same, for tools with an entry of this kind.
fn overlapping(one: Vec<Effect>, other: Vec<Effect>, kind: fn(ToolEntry) -> ToolEntry) -> bool {
    let (first, second) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let tools = [kind(stuck("first", one, &first)), kind(stuck("second", other, &second))];
    at_once(tools, &first, &second)
}

fn at_once(tools: [ToolEntry; 2], first: &Latch, second: &Latch) -> bool {
    let rig = Rig::with(tools);
    rig.files.link("/work/link", "/work/a");

    let (outcomes, together) = block_on(join(rig.batch([("first", "{}"), ("second", "{}")]), async {
        first.until_arrived(1).await;
        // Everything that may start has been polled once the batch itself waits.
        rig.host.until_sleeping(RoadLimits::default().batch).await;
        let together = second.arrived() == 1;
        first.open();
        second.open();
        together
    }));

    assert_eq!(outcomes.iter().map(|outcome| outcome.status).collect::<Vec<_>>(), [Status::Ok, Status::Ok]);
    together
}

#[test]
fn reads_overlap_and_so_do_writes_of_different_places() {
    assert!(overlap(read("/work/a"), read("/work/a"), false));
    assert!(overlap(write("/work/a"), write("/work/b"), false));
    assert!(overlap(write("/work/a"), read("/work/ab"), false));
    assert!(overlap(vec![], write("/work/a"), false));
    assert!(overlap(vec![Effect::Connect("x".into())], vec![Effect::Connect("x".into())], false));
    assert!(overlap(vec![Effect::WriteSlot("a")], vec![Effect::WriteSlot("b")], false));
}

#[test]
fn a_write_excludes_reads_and_writes_of_the_same_place_above_and_below() {
    for (one, other) in [
        (write("/work/a"), read("/work/a")),
        (read("/work/a"), write("/work/a")),
        (write("/work/a"), write("/work/a")),
        (write("/work"), read("/work/a/b")),
        (read("/work"), write("/work/a/b")),
        (write("/work/a/b"), write("/work")),
        (vec![Effect::WriteSlot("a")], vec![Effect::ReadSlot("a")]),
    ] {
        assert!(!overlap(one.clone(), other.clone(), false), "{one:?} {other:?}");
    }
}

#[test]
fn a_link_is_the_place_it_leads_to() {
    assert!(!overlap(write("/work/link"), read("/work/a"), false));
    assert!(!overlap(read("/work/link/x"), write("/work/a/x"), false));
    assert!(overlap(write("/work/link/x"), read("/work/a/y"), false));
}

#[test]
fn what_cannot_be_foreseen_and_what_wants_to_be_alone_runs_alone() {
    let command = Command { text: "make".into(), environment: "local".into(), workdir: "/work".into() };
    let act = Act { kind: ActKind::Send, detail: "a mail".into() };

    assert!(!overlap(vec![Effect::Unknown("?".into())], read("/work/a"), false));
    assert!(!overlap(read("/work/a"), vec![Effect::Exec(command)], false));
    assert!(!overlap(vec![Effect::Act(act)], read("/work/a"), false));
    assert!(!overlap(read("/work/a"), read("/work/b"), true));
    assert!(!overlap(vec![], vec![], true));
}

#[test]
fn commands_that_only_look_overlap_with_what_only_looks() {
    let run = |text: &str| {
        let (text, environment) = (text.to_owned(), "local".to_owned());
        vec![Effect::Exec(Command { text, environment, workdir: "/work".into() })]
    };
    let together = |first: Vec<Effect>, second: Vec<Effect>| {
        overlapping(first, second, |tool| tool.alone_unless(|text| text == "ls"))
    };

    assert!(together(run("ls"), run("ls")));
    assert!(together(run("ls"), read("/work/a")));
    assert!(together(read("/work/a"), run("ls")));
    assert!(!together(run("ls"), run("make")));
    assert!(!together(run("make"), run("ls")));
    assert!(!together(run("ls"), write("/work/a")));
    assert!(!together(write("/work/a"), run("ls")));
    assert!(!together(run("ls"), vec![Effect::Unknown("?".into())]));
}

#[test]
fn outcomes_are_in_call_order_one_each_whatever_became_of_the_calls() {
    let rig = Rig::with([
        echo("echo"),
        tool("panics", |_, _| async { if true { panic!("no") } else { Ok(json!({})) } }),
        tool("slow", |_, cx| async move {
            cx.host().sleep(Duration::from_secs(1)).await;
            Ok(json!({ "slow": true }))
        }),
    ]);
    let calls = [("slow", "{}"), ("nobody", "{}"), ("panics", "{}"), ("echo", "[]"), ("echo", r#"{"n": 4}"#)];

    let (outcomes, ()) = block_on(join(rig.batch(calls), rig.host.pass(Duration::from_secs(1))));

    let status: Vec<Status> = outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(status, [Status::Ok, Status::Unknown, Status::Broken, Status::Invalid, Status::Ok]);
    assert_eq!((json(&outcomes[0]), json(&outcomes[4])), (json!({ "slow": true }), json!({ "n": 4 })));
}

#[test]
fn an_empty_batch_has_no_outcomes() {
    assert_eq!(block_on(Rig::with([]).batch([])), []);
}

#[test]
fn at_most_eight_run_at_once_and_the_next_starts_when_one_is_done() {
    let (doors, first) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let rig = Rig::with([stuck("stuck", vec![], &doors), stuck("first", vec![], &first)]);
    let calls = std::iter::once(("first", "{}")).chain(std::iter::repeat_n(("stuck", "{}"), 11));

    let (outcomes, ()) = block_on(join(rig.batch(calls), async {
        doors.until_arrived(7).await;
        rig.host.until_sleeping(RoadLimits::default().batch).await;
        assert_eq!(doors.arrived(), 7);
        first.open();
        doors.until_arrived(8).await;
        doors.open();
    }));

    assert_eq!(outcomes.len(), 12);
    assert!(outcomes.iter().all(|outcome| outcome.status == Status::Ok));
}

#[test]
fn a_limit_of_none_at_once_still_answers_every_call() {
    let rig =
        Rig::builder().tool(echo("echo")).limits(RoadLimits { at_once: 0, ..RoadLimits::default() }).build();

    let outcomes = block_on(rig.batch([("echo", "{}"), ("echo", "{}")]));

    assert_eq!(outcomes.iter().map(|outcome| outcome.status).collect::<Vec<_>>(), [Status::Ok, Status::Ok]);
}

#[test]
fn a_batch_without_a_limit_in_time_has_none() {
    let rig = Rig::builder()
        .tool(echo("echo"))
        .limits(RoadLimits { batch: Duration::MAX, ..RoadLimits::default() })
        .build();

    assert_eq!(block_on(rig.batch([("echo", "{}")])).len(), 1);
}

fn short(tools: impl IntoIterator<Item = ToolEntry>) -> RigBuilder {
    let limits = RoadLimits { batch: Duration::from_secs(20), ..RoadLimits::default() };
    tools.into_iter().fold(Rig::builder(), RigBuilder::tool).limits(limits)
}

fn hangs(name: &str, effects: Vec<Effect>) -> ToolEntry {
    let run = |_, _| pending::<Result<Value, ToolError>>();
    ToolEntry::from_fn(name, "test", any_object(), move |_, _| effects.clone(), run).trusted()
}

#[test]
fn one_deadline_ends_the_whole_batch_and_what_has_not_started_does_not_start() {
    let ran: Arc<Mutex<u32>> = Arc::default();
    let count = ran.clone();
    let effects = |_: &_, _: &_| write("/work/a");
    let after = ToolEntry::from_fn("after", "test", any_object(), effects, move |_, _| {
        *count.lock().unwrap() += 1;
        async { Ok(json!({})) }
    });
    let journal = MemoryJournal::new();
    let rig = short([hangs("hangs", write("/work/a")), after, echo("echo")]).journal(journal.clone()).build();

    let (outcomes, ()) = block_on(join(
        rig.batch([("hangs", "{}"), ("after", "{}"), ("echo", "{}")]),
        rig.host.pass(Duration::from_secs(20)),
    ));

    let status: Vec<Status> = outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(status, [Status::TimedOut, Status::TimedOut, Status::Ok]);
    assert_eq!(error(&outcomes[0]), "still running after 20 s; it was stopped");
    assert_eq!(error(&outcomes[1]), "not run: the 20 s for all calls of this answer were over");
    assert_eq!(*ran.lock().unwrap(), 0);
    let starts = journal.records().iter().filter(|record| matches!(record, Record::Starting { .. })).count();
    assert_eq!((starts, rig.host.sleepers()), (2, 0));
}

#[test]
fn time_spent_waiting_for_others_is_not_the_batches() {
    let (others, never) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let held_by = |name: &str, latch: &Arc<Latch>| {
        let latch = Arc::clone(latch);
        let run = move |_, _| {
            let latch = Arc::clone(&latch);
            async move {
                latch.wait().await;
                Ok(json!({}))
            }
        };
        ToolEntry::from_fn(name, "test", any_object(), |_, _| write("/work/a"), run)
    };
    let waits = held_by("waits", &others).waiting(Duration::from_secs(500));
    let rig = short([waits, held_by("hangs", &never)]).build();

    let (outcomes, ()) = block_on(join(rig.batch([("waits", "{}"), ("hangs", "{}")]), async {
        others.until_arrived(1).await;
        rig.host.pass(Duration::from_secs(20)).await;
        others.open();
        never.until_arrived(1).await;
        rig.host.pass(Duration::from_secs(20)).await;
    }));

    let status: Vec<Status> = outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(status, [Status::Ok, Status::TimedOut]);
    assert_eq!(error(&outcomes[1]), "still running after 20 s; it was stopped");
}

#[test]
fn the_deadline_also_ends_a_wait_for_hooks_and_for_people() {
    let latch = Arc::new(Latch::default());
    let hook = || Arc::new(RecordingHook::named("slow").policy().before(|_| pending()));
    let ask = || judged(|_| Verdict::Ask(Reason::new("r", "w")));
    let person = short([echo("echo")]).policy(ask()).approver(ScriptedApprover::agrees_after(&latch)).build();
    let limits = RoadLimits { batch: Duration::from_secs(5), ..RoadLimits::default() };
    let hooked = Rig::builder().tool(echo("echo")).hook(hook()).limits(limits).build();

    let (asked, ()) = block_on(join(person.batch([("echo", "{}"), ("echo", "{}")]), async {
        latch.until_arrived(1).await;
        person.host.pass(Duration::from_secs(20)).await;
    }));
    let (held, ()) = block_on(join(
        hooked.batch([("echo", "{}"), ("echo", "{}")]),
        hooked.host.pass(Duration::from_secs(5)),
    ));

    let late = |outcomes: &[Outcome], seconds: u32| {
        let why = format!("not run: the {seconds} s for all calls of this answer were over");
        outcomes.len() == 2
            && outcomes.iter().all(|outcome| outcome.status == Status::TimedOut && error(outcome) == why)
    };
    assert!(late(&asked, 20), "{asked:?}");
    assert!(late(&held, 5), "{held:?}");
}

#[test]
fn cancelling_stops_what_runs_what_waits_and_what_is_not_yet_prepared() {
    let latch = Arc::new(Latch::default());
    let ask = judged(|request| match request.tool {
        "asks" => Verdict::Ask(Reason::new("r", "w")),
        _ => Verdict::Allow,
    });
    let rig = short([
        hangs("hangs", write("/work/a")),
        hangs("waits", write("/work/a")),
        echo("asks"),
        echo("echo"),
    ])
    .policy(ask)
    .approver(ScriptedApprover::agrees_after(&latch))
    .build();
    let token = rig.session.child_token();
    let calls = ["hangs", "waits", "asks", "echo"].map(|name| ToolCall::new(name, "{}")).to_vec();

    let (outcomes, ()) = block_on(async {
        let toolbox = rig.toolbox().await;
        join(rig.road.batch_until(&rig.session, &toolbox, calls, &token), async {
            latch.until_arrived(1).await;
            token.cancel();
        })
        .await
    });

    assert_eq!(outcomes.len(), 4);
    assert!(outcomes.iter().all(|outcome| outcome.status == Status::Cancelled), "{outcomes:?}");
    assert_eq!(rig.call_now("echo", "{}").status, Status::Ok, "the session itself goes on");
}

#[test]
fn a_question_does_not_hold_up_the_calls_before_it() {
    let (question, runs) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let ask = judged(|request| match request.tool {
        "asks" => Verdict::Ask(Reason::new("r", "w")),
        _ => Verdict::Allow,
    });
    let journal = MemoryJournal::new();
    let rig = short([stuck("runs", vec![], &runs), echo("asks"), echo("echo")])
        .policy(ask)
        .journal(journal.clone())
        .approver(ScriptedApprover::agrees_after(&question))
        .build();

    let (outcomes, ()) = block_on(join(rig.batch([("runs", "{}"), ("asks", "{}"), ("echo", "{}")]), async {
        question.until_arrived(1).await;
        runs.until_arrived(1).await;
        runs.open();
        let is_done = || journal.records().iter().any(|record| matches!(record, Record::Finished { .. }));
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if is_done() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        question.open();
    }));

    assert!(outcomes.iter().all(|outcome| outcome.status == Status::Ok));
}

#[test]
fn hooks_see_the_calls_of_a_batch_in_order() {
    let hook = Arc::new(RecordingHook::named("h"));
    let rig = Rig::builder().tool(echo("echo")).hook(hook.clone()).build();

    block_on(rig.batch([("echo", r#"{"n": 0}"#), ("echo", r#"{"n": 1}"#), ("echo", r#"{"n": 2}"#)]));

    let order: Vec<Value> = hook.seen().into_iter().map(|call| call.arguments["n"].clone()).collect();
    assert_eq!(order, [json!(0), json!(1), json!(2)]);
}
