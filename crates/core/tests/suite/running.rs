//! Step 7: panics, hangs and cancellations each end in one answer.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{join, pending};
use hermes_core::call::ToolCall;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::outcome::Status;
use hermes_core::road::RoadLimits;
use hermes_core::session::{Place, Slot};
use hermes_core::tool::{BlockingTool, Tool, ToolEntry};
use hermes_testkit::{Latch, Rig, echo, stuck, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{error, json};

/// Add two numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    /// One
    a: i64,
    /// The other
    #[serde(default)]
    b: i64,
}

impl Tool for Add {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    async fn call(self, _cx: &ToolCx) -> ToolResult {
        Ok(json!({ "sum": self.a + self.b }))
    }
}

/// Count down on a thread of its own.
#[derive(Deserialize, JsonSchema)]
struct Work {
    /// What to do: answer, fail, panic or wait
    what: String,
}

impl BlockingTool for Work {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn call(self, cx: &ToolCx) -> ToolResult {
        match self.what.as_str() {
            "fail" => Err(ToolError::Failed("it did not work".to_owned())),
            "panic" => panic!("the thread broke"),
            "wait" => {
                block_on(cx.cancelled().cancelled());
                // Not at once: a call that ends in the moment it is cancelled may end either way.
                std::thread::park_timeout(Duration::from_millis(300));
                Ok(json!({}))
            }
            _ => Ok(json!({ "thread": format!("{:?}", std::thread::current().id()) })),
        }
    }
}

fn rig() -> Rig {
    Rig::with([ToolEntry::of::<Add>("add", "test"), ToolEntry::blocking::<Work>("work", "test")])
}

#[test]
fn a_typed_tool_gets_its_arguments_and_its_schema_comes_from_the_type() {
    let rig = rig();

    assert_eq!(json(&rig.call_now("add", r#"{"a": "2", "b": 3}"#)), json!({ "sum": 5 }));
    let toolbox = rig.toolbox_now();
    let definition: Value = serde_json::from_str(toolbox.offered()[0].json()).unwrap();
    assert_eq!(definition["function"]["description"], "Add two numbers.");
    assert_eq!(definition["function"]["parameters"]["required"], json!(["a"]));
    assert_eq!(definition["function"]["parameters"]["properties"]["b"]["default"], 0);
}

#[test]
fn blocking_work_runs_on_another_thread_and_its_failures_come_back() {
    let rig = rig();
    let here = format!("{:?}", std::thread::current().id());

    let answered = rig.call_now("work", r#"{"what": "answer"}"#);
    let failed = rig.call_now("work", r#"{"what": "fail"}"#);
    let panicked = rig.call_now("work", r#"{"what": "panic"}"#);

    assert_ne!(json(&answered)["thread"], here);
    assert_eq!((failed.status, failed.body.as_str()), (Status::Failed, r#"{"error":"it did not work"}"#));
    assert_eq!(panicked.status, Status::Broken);
    assert_eq!(error(&panicked), "[TOOL_ERROR] Tool execution failed: panic: the thread broke");
}

#[test]
fn a_handler_that_panics_at_once_or_later_or_with_anything_is_one_well_formed_error() {
    let rig = Rig::with([
        tool("at_once", |_, _| -> std::future::Ready<Result<Value, ToolError>> { panic!("at once") }),
        tool("later", |_, cx| async move {
            cx.host().sleep(Duration::from_secs(1)).await;
            if true { panic!("later: {}", 1) } else { Ok(json!({})) }
        }),
        tool("odd", |_, _| async { if true { std::panic::panic_any(7_u8) } else { Ok(json!({})) } }),
    ]);

    let at_once = rig.call_now("at_once", "{}");
    let (later, ()) = block_on(join(rig.call("later", "{}"), rig.host.pass(Duration::from_secs(1))));
    let odd = rig.call_now("odd", "{}");

    assert!([&at_once, &later, &odd].iter().all(|outcome| outcome.status == Status::Broken));
    assert_eq!(error(&at_once), "[TOOL_ERROR] Tool execution failed: panic: at once");
    assert_eq!(error(&later), "[TOOL_ERROR] Tool execution failed: panic: later: 1");
    assert_eq!(error(&odd), "[TOOL_ERROR] Tool execution failed: panic: no message");
}

#[test]
fn a_handler_that_hangs_is_stopped_at_the_limit_of_the_road_or_its_own() {
    let hangs = |name: &str| tool(name, |_, _| pending::<Result<Value, ToolError>>());
    let far = tool("far", |_, cx| {
        cx.sent();
        pending::<Result<Value, ToolError>>()
    });
    let rig = Rig::builder()
        .tool(hangs("long"))
        .tool(hangs("short").timeout(Duration::from_millis(1500)))
        .tool(far.timeout(Duration::from_secs(2)).elsewhere(Duration::ZERO))
        .limits(RoadLimits { call: Duration::from_mins(1), ..RoadLimits::default() })
        .build();

    let (long, ()) = block_on(join(rig.call("long", "{}"), rig.host.pass(Duration::from_mins(1))));
    let (short, ()) = block_on(join(rig.call("short", "{}"), rig.host.pass(Duration::from_millis(1500))));
    let (far, ()) = block_on(join(rig.call("far", "{}"), rig.host.pass(Duration::from_secs(2))));

    assert_eq!(
        (long.status, error(&long).as_str()),
        (Status::TimedOut, "still running after 60 s; it was stopped")
    );
    assert_eq!(error(&short), "still running after 1.5 s; it was stopped");
    assert_eq!(
        (far.status, error(&far).as_str()),
        (Status::TimedOut, "no answer after 2 s; it was asked to stop, and may have run all the same")
    );
    assert_eq!((long.took, rig.host.sleepers()), (Duration::from_mins(1), 0));
}

/// Lets others have their turn.
async fn turn() {
    let mut had = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut had, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[test]
fn the_time_of_a_call_that_runs_elsewhere_counts_from_when_it_is_sent() {
    let seconds = Duration::from_secs;
    let unsent = tool("unsent", |_, _| pending::<Result<Value, ToolError>>());
    let sent = tool("sent", move |_, cx| async move {
        cx.host().sleep(seconds(5)).await;
        cx.sent();
        pending::<Result<Value, ToolError>>().await
    });
    let rig = Rig::builder()
        .tool(unsent.timeout(seconds(2)).elsewhere(seconds(10)))
        .tool(sent.timeout(seconds(2)).elsewhere(seconds(10)))
        .build();
    let pass = async |waits: &[u64]| {
        for wait in waits {
            rig.host.pass(seconds(*wait)).await;
            // Whoever was woken looks at the clock first.
            turn().await;
        }
    };

    let (unsent, ()) = block_on(join(rig.call("unsent", "{}"), pass(&[2, 8])));
    let (sent, ()) = block_on(join(rig.call("sent", "{}"), pass(&[2, 3, 2])));

    assert_eq!(error(&unsent), "not sent, and not run: what it goes to was not ready within 10 s");
    assert_eq!(error(&sent), "no answer after 2 s; it was asked to stop, and may have run all the same");
    assert_eq!((unsent.took, sent.took), (seconds(10), seconds(7)));
}

#[test]
fn work_left_on_a_thread_is_told_to_stop_when_its_call_is_over() {
    let (told, heard) = oneshot::channel::<()>();
    let told = std::sync::Mutex::new(Some(told));
    let rig = Rig::with([tool("leaves", move |_, cx| {
        let told = told.lock().unwrap().take();
        let stop = cx.cancelled().clone();
        cx.host().run_blocking(Box::new(move || {
            block_on(stop.cancelled());
            told.map(|told| told.send(()));
        }));
        pending::<Result<Value, ToolError>>()
    })]);

    let (outcome, ()) = block_on(join(rig.call("leaves", "{}"), rig.host.pass(Duration::from_mins(5))));

    assert_eq!(outcome.status, Status::TimedOut);
    assert_eq!(block_on(heard), Ok(()));
}

#[test]
fn a_call_cancelled_before_it_starts_does_not_run() {
    let latch = Arc::new(Latch::default());
    let rig = Rig::with([stuck("stuck", vec![], &latch)]);
    rig.session.cancel();

    let outcome = rig.call_now("stuck", "{}");

    assert_eq!(
        (outcome.status, error(&outcome).as_str()),
        (Status::Cancelled, "cancelled before it finished")
    );
    assert_eq!(latch.arrived(), 0);
}

#[test]
fn a_running_call_can_be_cancelled_alone() {
    let latch = Arc::new(Latch::default());
    let rig = Rig::with([stuck("stuck", vec![], &latch), echo("echo")]);
    let token = rig.session.child_token();

    let (outcome, ()) = block_on(async {
        let toolbox = rig.toolbox().await;
        let call = rig.road.call_until(&rig.session, &toolbox, ToolCall::new("stuck", "{}"), &token);
        join(call, async {
            latch.until_arrived(1).await;
            token.cancel();
        })
        .await
    });

    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(rig.call_now("echo", "{}").status, Status::Ok);
}

#[test]
fn blocking_work_is_left_alone_when_its_call_is_cancelled() {
    let rig = rig();
    let token = rig.session.child_token();

    let (outcome, ()) = block_on(async {
        let toolbox = rig.toolbox().await;
        let call =
            rig.road.call_until(&rig.session, &toolbox, ToolCall::new("work", r#"{"what": "wait"}"#), &token);
        join(call, async {
            rig.host.until_sleeping(Duration::from_mins(5)).await;
            token.cancel();
        })
        .await
    });

    assert_eq!(outcome.status, Status::Cancelled);
}

#[derive(Default)]
struct Counter(u32);

impl Slot for Counter {
    const NAME: &'static str = "counter";
}

fn todo() -> ToolEntry {
    tool("todo", |_, cx| async move {
        cx.with_slot(|counter: &mut Counter| {
            counter.0 += 1;
            json!({ "count": counter.0 })
        })
    })
}

#[test]
fn a_tool_of_the_session_finds_its_state_there_and_says_so_when_there_is_none() {
    let (one, other) = (Rig::with([todo()]), Rig::with([todo()]));
    let detached = Rig::builder().tool(todo()).detached().build();

    one.call_now("todo", "{}");

    assert_eq!(json(&one.call_now("todo", "{}")), json!({ "count": 2 }));
    assert_eq!(json(&other.call_now("todo", "{}")), json!({ "count": 1 }));
    assert_eq!(detached.call_now("todo", "{}").body, r#"{"error":"todo must be handled by the agent loop"}"#);
}
