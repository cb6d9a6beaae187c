//! Calls that a running call makes: the same road, under its id, and no further down.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, join, join_all};
use hermes_core::call::ToolCall;
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::loop_guard;
use hermes_core::outcome::Status;
use hermes_core::policy::{
    Answer, ApprovalRequest, Approver, Careful, Grant, Policy, PolicyRequest, Reason, Verdict,
};
use hermes_core::tool::ToolEntry;
use hermes_testkit::{Latch, MemoryJournal, Record, Rig, echo, stuck, tool};
use serde_json::{Value, json};

use crate::json;

/// A tool that makes the calls it is given, all at once, and answers with what came back.
fn script() -> ToolEntry {
    tool("script", |arguments, cx| async move {
        let caller = cx.caller().ok_or_else(|| ToolError::Failed("no calls from here".to_owned()))?;
        let names: Vec<&str> =
            arguments["calls"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let token = caller.child_token();
        let calls = names.iter().map(|name| caller.call(ToolCall::new(*name, r#"{"calls": []}"#), &token));
        let outcomes = join_all(calls).await;
        let said = outcomes.iter().map(|it| json!([it.id.as_str(), it.status.word(), it.body])).collect();
        Ok(Value::Array(said))
    })
}

fn calls(names: &[&str]) -> String {
    json!({ "calls": names }).to_string()
}

#[test]
fn an_inner_call_takes_the_road_under_the_id_of_its_maker() {
    let journal = Arc::new(MemoryJournal::default());
    let rig = Rig::builder().tool(script()).tool(echo("echo")).journal(journal.clone()).build();

    let outcome = rig.call_now("script", &calls(&["echo", "ECHO", "no_such"]));

    let body = json(&outcome);
    assert_eq!(body[0], json!(["s.1/1", "ok", r#"{"calls":[]}"#]));
    assert_eq!(body[1][1], "ok");
    assert_eq!(body[2][1], "unknown");
    let ids = journal.records().into_iter().filter_map(|record| match record {
        Record::Starting { id, .. } => Some(id),
        _ => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["s.1", "s.1/1", "s.1/2"]);
}

#[test]
fn an_inner_call_makes_no_calls_itself() {
    let rig = Rig::with([script()]);

    let body = json(&rig.call_now("script", &calls(&["script"])));

    assert_eq!(body[0][1], "failed");
    assert!(body[0][2].as_str().unwrap().contains("no calls from here"));
}

struct NotEcho;

impl Policy for NotEcho {
    fn judge(&self, request: &PolicyRequest<'_>) -> Verdict {
        if request.tool == "echo" { Verdict::Deny(Reason::new("test", "no")) } else { Verdict::Allow }
    }
}

#[test]
fn policy_judges_inner_calls_like_any_other() {
    let rig = Rig::builder().tool(script()).tool(echo("echo")).policy(NotEcho).build();

    let body = json(&rig.call_now("script", &calls(&["echo"])));

    assert_eq!(body[0][1], "denied");
}

#[test]
fn a_script_that_repeats_itself_is_not_the_model_going_in_circles() {
    let fails = tool("fails", |_, _| async { Err::<Value, _>(ToolError::Failed("no".to_owned())) });
    let settings = loop_guard::Settings { hard_stop_enabled: true, ..loop_guard::Settings::default() };
    let rig = Rig::builder().tool(script()).tool(fails).loop_guard(settings).build();

    let body = json(&rig.call_now("script", &calls(&["fails"; 20])));

    assert!(body.as_array().unwrap().iter().all(|it| it[1] == "failed"), "{body}");
}

#[test]
fn inner_calls_overlap_but_writes_go_one_after_another() {
    let (reads, writes) = (Arc::new(Latch::default()), Arc::new(Latch::default()));
    let write = vec![Effect::Write("/work/a".into())];
    let rig = Rig::with([script(), stuck("read", vec![], &reads), stuck("write", write, &writes)]);

    let (outcome, together) =
        block_on(join(rig.call("script", &calls(&["read", "write", "write", "read"])), async {
            reads.until_arrived(2).await;
            writes.until_arrived(1).await;
            let together = (reads.arrived(), writes.arrived());
            reads.open();
            writes.open();
            together
        }));

    assert_eq!(together, (2, 1));
    assert_eq!(writes.arrived(), 2);
    assert_eq!(outcome.status, Status::Ok);
}

#[test]
fn one_question_is_asked_at_a_time() {
    let latch = Arc::new(Latch::default());
    let approver =
        Arc::new(Asked { latch: Arc::clone(&latch), now: AtomicUsize::new(0), most: AtomicUsize::new(0) });
    let rig = Rig::builder()
        .tool(script())
        .tool(stuck("write", vec![Effect::Write("/work/a".into())], &latch))
        .policy(Careful)
        .approver(approver.clone())
        .build();
    latch.open();

    let body = json(&rig.call_now("script", &calls(&["write"; 4])));

    assert!(body.as_array().unwrap().iter().all(|it| it[1] == "ok"), "{body}");
    assert_eq!(approver.most.load(Ordering::Relaxed), 1);
}

/// Counts how many questions are open at once.
struct Asked {
    latch: Arc<Latch>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Approver for Asked {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(now, Ordering::Relaxed);
            let mut looks = 0;
            futures::future::poll_fn(|cx| {
                looks += 1;
                cx.waker().wake_by_ref();
                if looks > 3 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            self.latch.wait().await;
            self.now.fetch_sub(1, Ordering::Relaxed);
            Answer::Approved(Grant::Once)
        })
    }
}

#[test]
fn a_call_that_winds_up_answers_with_what_it_has() {
    let slow = || {
        tool("slow", |_, cx| async move {
            cx.cancelled().cancelled().await;
            Ok(json!({ "so_far": 3 }))
        })
    };
    let rig = Rig::with([slow().winding_up()]);
    let token = rig.session.child_token();
    let (outcome, ()) = block_on(async {
        let toolbox = rig.toolbox().await;
        let call = rig.road.call_until(&rig.session, &toolbox, ToolCall::new("slow", "{}"), &token);
        join(call, async {
            rig.host.until_sleeping(Duration::from_mins(5)).await;
            token.cancel();
        })
        .await
    });
    assert_eq!((outcome.status, json(&outcome)), (Status::Cancelled, json!({ "so_far": 3 })));

    let late = Rig::with([slow().winding_up().timeout(Duration::from_secs(9))]);
    let (outcome, ()) = block_on(join(late.call("slow", "{}"), late.host.pass(Duration::from_secs(9))));
    assert_eq!((outcome.status, json(&outcome)), (Status::TimedOut, json!({ "so_far": 3 })));
}
