//! Children: what comes back, whatever becomes of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, join};
use hermes_agent::delegation::{Child, ChildTask, Children, Limits, TaskSpec, Trace, delegate, plan};
use hermes_agent::{Event, EventWatcher};
use hermes_core::call::CallId;
use hermes_core::host::Host;
use hermes_core::outcome::{Outcome, Status};
use hermes_core::watch::Watcher;
use hermes_testkit::{FakeHost, Latch, Line};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::Stage;

/// What each child's model says; `None` cannot be opened.
struct Scripts(Vec<Option<Vec<Line>>>, Arc<FakeHost>);

impl Children for Scripts {
    fn open<'a>(&'a self, task: &'a ChildTask) -> BoxFuture<'a, Result<Child, String>> {
        Box::pin(async move {
            let lines = self.0.get(task.index).cloned().flatten().ok_or("no room for another session")?;
            let mut stage = Stage::saying(lines);
            stage.driver.host = self.1.clone();
            stage.driver.settings.budget = task.budget;
            let trace = Trace::default();
            let ended = Outcome {
                id: CallId::from("1"),
                given_id: String::new(),
                tool: "echo".into(),
                status: Status::Ok,
                body: "{}".to_owned(),
                spilled: None,
                notes: vec![],
                took: Duration::ZERO,
            };
            EventWatcher(trace.sink()).ended(&ended);
            Ok(Child { driver: stage.driver, session: format!("child-{}", task.index), trace })
        })
    }
}

fn tasks(count: usize) -> Vec<ChildTask> {
    let spec = TaskSpec { goal: "Count.".to_owned(), ..TaskSpec::default() };
    plan(vec![spec; count], 0, &Limits { at_once: count, ..Limits::default() }).unwrap()
}

fn run(scripts: &Scripts, limits: &Limits, cancel: &CancellationToken) -> Value {
    let host: Arc<dyn Host> = scripts.1.clone();
    let tasks = tasks(scripts.0.len());
    serde_json::to_value(block_on(delegate(&host, &tasks, scripts, limits, &|_| {}, cancel))).unwrap()
}

#[test]
fn every_task_gets_a_report_whatever_becomes_of_its_child() {
    let scripts = vec![
        Some(vec![Line::calls([("1", "echo", "{}")]), Line::text("Three.")]),
        None,
        Some(vec![Line::fail(hermes_core::model::ModelErrorClass::Auth)]),
    ];
    let report = run(&Scripts(scripts, FakeHost::new()), &Limits::default(), &CancellationToken::new());

    let statuses: Vec<&Value> =
        report["results"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["completed", "error", "failed"]);
    let first = &report["results"][0];
    assert_eq!(first["summary"], "Three.");
    assert_eq!(first["tokens"], json!({ "input": 200, "output": 20 }));
    assert_eq!(first["tool_trace"][0]["tool"], "echo");
    assert_eq!(first["session"], "child-0");
    assert_eq!(report["results"][1]["error"], "no room for another session");
    assert!(report["total_duration_seconds"].is_number());
}

#[test]
fn a_child_that_breaks_takes_nobody_along() {
    struct Breaks(Scripts);
    impl Children for Breaks {
        fn open<'a>(&'a self, task: &'a ChildTask) -> BoxFuture<'a, Result<Child, String>> {
            assert_ne!(task.index, 0, "the first one breaks");
            self.0.open(task)
        }
    }
    let breaks = Breaks(Scripts(vec![None, Some(vec![Line::text("Fine.")])], FakeHost::new()));
    let host: Arc<dyn Host> = FakeHost::new();
    let told = Mutex::new(Vec::new());
    let sink = |event: Event| told.lock().unwrap().push(event);
    let (tasks, limits, cancel) = (tasks(2), Limits::default(), CancellationToken::new());
    let done = block_on(delegate(&host, &tasks, &breaks, &limits, &sink, &cancel));

    assert_eq!(done.results[0].error.as_deref(), Some("the child broke"));
    assert_eq!(done.results[1].summary, "Fine.");
    assert_eq!(told.lock().unwrap().len(), 2);
}

#[test]
fn children_run_at_the_same_time() {
    let latch = Arc::new(Latch::default());
    let held = || Some(vec![Line::text("Done.").held_by(&latch)]);
    let scripts = Scripts(vec![held(), held(), held()], FakeHost::new());
    let host: Arc<dyn Host> = scripts.1.clone();
    let (tasks, limits, cancel) = (tasks(3), Limits::default(), CancellationToken::new());
    let (done, ()) = block_on(join(delegate(&host, &tasks, &scripts, &limits, &|_| {}, &cancel), async {
        latch.until_arrived(3).await;
        latch.open();
    }));

    assert!(done.results.iter().all(|report| report.summary == "Done."));
}

#[test]
fn stopping_the_parent_stops_the_children() {
    let latch = Arc::new(Latch::default());
    let held = || Some(vec![Line::text("Done.").held_by(&latch)]);
    let scripts = Scripts(vec![held(), held()], FakeHost::new());
    let host: Arc<dyn Host> = scripts.1.clone();
    let (tasks, limits, cancel) = (tasks(2), Limits::default(), CancellationToken::new());
    let (done, ()) = block_on(join(delegate(&host, &tasks, &scripts, &limits, &|_| {}, &cancel), async {
        latch.until_arrived(2).await;
        cancel.cancel();
    }));

    assert!(done.results.iter().all(|report| report.exit_reason == "interrupted"));
}

#[test]
fn a_child_that_takes_too_long_is_stopped() {
    let scripts = Scripts(vec![Some(vec![Line::silence()])], FakeHost::new());
    let fake = scripts.1.clone();
    let host: Arc<dyn Host> = fake.clone();
    let limits = Limits { timeout: Some(Duration::from_secs(20)), ..Limits::default() };
    let (tasks, cancel) = (tasks(1), CancellationToken::new());
    let (done, ()) = block_on(join(delegate(&host, &tasks, &scripts, &limits, &|_| {}, &cancel), async {
        fake.pass(Duration::from_secs(20)).await;
    }));

    assert_eq!(done.results[0].exit_reason, "timeout");
}

#[test]
fn a_long_answer_is_capped() {
    let scripts = Scripts(vec![Some(vec![Line::text(&"long ".repeat(20_000))])], FakeHost::new());
    let report = run(&scripts, &Limits::default(), &CancellationToken::new());
    let summary = report["results"][0]["summary"].as_str().unwrap();

    assert!(summary.chars().count() < 24_000 && summary.contains("is in session child-0"));
}
