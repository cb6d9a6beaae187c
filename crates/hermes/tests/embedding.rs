//! The runtime inside other programs: async or not, once or twice, with a real home.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of a test fails like a test")]

use std::sync::Arc;
use std::time::Duration;

use hermes::core::cx::ToolCx;
use hermes::core::definitions::DefinitionSettings;
use hermes::core::effect::Effect;
use hermes::core::error::{ToolError, ToolResult};
use hermes::core::gate::Gate;
use hermes::core::registry::{Scope, Source};
use hermes::core::session::Place;
use hermes::core::tool::{BlockingTool, ToolEntry};
use hermes::core::toolset::Selection;
use hermes::store::Home;
use hermes::{Outcome, Runtime, RuntimeBuilder, Status, ToolCall};
use hermes_testkit::{Latch, TempHome, any_object, echo, stuck, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Say on which thread this runs.
#[derive(Deserialize, JsonSchema)]
struct WhichThread {}

impl BlockingTool for WhichThread {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn call(self, _cx: &ToolCx) -> ToolResult {
        Ok(json!({ "thread": std::thread::current().name() }))
    }
}

fn source() -> Source {
    Source::Embedder("test".to_owned())
}

/// A quick tool, one that waits for the timer, one that blocks a thread.
fn tools() -> Scope {
    let waits = tool("waits", |_, cx| async move {
        cx.host().sleep(Duration::from_millis(1)).await;
        Ok(json!({ "waited": true }))
    });
    Scope::new(source())
        .tool(echo("echo"))
        .tool(waits)
        .tool(ToolEntry::blocking::<WhichThread>("thread", "test"))
}

fn builder() -> RuntimeBuilder {
    Runtime::builder().cwd("/").scope(tools())
}

fn with(entry: ToolEntry) -> Runtime {
    Runtime::builder().scope(Scope::new(source()).tool(entry)).build().unwrap()
}

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, "{}")
}

fn calls() -> Vec<ToolCall> {
    ["echo", "waits", "thread", "nobody"].map(call).to_vec()
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.body).unwrap()
}

fn all_came_back(outcomes: &[Outcome]) {
    let bodies: Vec<Value> = outcomes.iter().map(json).collect();
    assert_eq!(bodies[..3], [json!({}), json!({ "waited": true }), json!({ "thread": "hermes" })]);
    assert_eq!(outcomes[3].status, Status::Unknown);
}

fn from_blocking_code() {
    let runtime = builder().build().unwrap();
    let session = runtime.session().open().unwrap();

    all_came_back(&session.batch_blocking(calls()));
    assert_eq!(session.call_blocking(call("thread")).status, Status::Ok);
    assert_eq!(runtime.call_blocking(call("waits")).status, Status::Ok);
    assert!(session.toolbox_blocking().json().contains("\"waits\""));
}

async fn from_async_code() {
    let runtime = builder().build().unwrap();
    let session = runtime.session().open().unwrap();

    all_came_back(&session.batch(calls()).await);
    assert_eq!(runtime.call(call("thread")).await.status, Status::Ok);
}

fn current_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn multi_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap()
}

#[test]
fn it_works_from_code_that_just_waits() {
    from_blocking_code();
}

#[test]
fn it_works_inside_other_executors() {
    current_thread().block_on(from_async_code());
    multi_thread().block_on(from_async_code());
    futures::executor::block_on(from_async_code());
}

#[test]
fn code_that_waits_may_do_so_inside_other_executors() {
    current_thread().block_on(async { from_blocking_code() });
    multi_thread().block_on(async { from_blocking_code() });
    futures::executor::block_on(async { from_blocking_code() });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this is the other program")]
fn it_works_on_the_worker_thread_of_another_runtime() {
    let outer = multi_thread();

    let task = outer.spawn(async {
        from_async_code().await;
        from_blocking_code();
    });

    outer.block_on(task).unwrap();
}

#[test]
fn a_tool_may_itself_call_tools_and_wait_for_them() {
    let inner = builder().build().unwrap();
    let outer = with(tool("nested", move |_, _| {
        let outcome = inner.call_blocking(call("thread"));
        async move { Ok(outcome.body) }
    }));

    assert_eq!(json(&outer.call_blocking(call("nested"))), json!({ "thread": "hermes" }));
}

#[test]
fn two_runtimes_do_not_touch_each_other() {
    let gated = || echo("gated").gate(Gate::env("KEY"));
    let (one, other) = (with(gated()), with(gated()));
    let status = |runtime: &Runtime| runtime.call_blocking(call("gated")).status;
    let todo = |runtime: &Runtime, id: &str| {
        let session = runtime.session().id("same").open().unwrap();
        let todos = json!({ "todos": [{ "id": id, "content": "x", "status": "pending" }] });
        session.call_blocking(ToolCall::new("todo", todos.to_string()));
        json(&session.call_blocking(call("todo")))["todos"][0]["id"].clone()
    };

    one.set_env("KEY", Some("x"));
    one.install(Scope::new(Source::Plugin("p".into())).tool(echo("only_one"))).unwrap();

    assert_eq!((status(&one), status(&other)), (Status::Ok, Status::Unknown));
    assert!(one.tools().tool("only_one").is_some() && other.tools().tool("only_one").is_none());
    assert_eq!((todo(&one, "a"), todo(&other, "b")), (json!("a"), json!("b")));
}

#[test]
fn a_runtime_that_ends_inside_async_code_ends_quietly() {
    for outer in [current_thread(), multi_thread()] {
        outer.block_on(async {
            let runtime = builder().build().unwrap();
            let session = runtime.session().open().unwrap();
            all_came_back(&session.batch(calls()).await);
            drop(session);
            drop(runtime);
        });
    }
}

#[test]
fn a_variable_changes_what_is_available_at_once() {
    let runtime = with(echo("gated").gate(Gate::env("KEY")));
    let there = || {
        let settings = DefinitionSettings::default();
        runtime.toolbox_blocking(&Selection::everything(), &settings).unwrap().json().contains("\"gated\"")
    };

    let before = there();
    runtime.set_env("KEY", Some("x"));
    let set = there();
    runtime.set_env("KEY", None);

    assert_eq!((before, set, there()), (false, true, false));
}

#[test]
fn files_of_the_home_change_what_is_available_when_they_are_read_again() {
    let home = TempHome::new();
    home.write("config.yaml", "agent: {}\n");
    let gated = Scope::new(source())
        .tool(echo("by_env").gate(Gate::env("KEY")))
        .tool(echo("by_config").gate(Gate::Config("extra.on".into())));
    let runtime = Runtime::builder().home(Home::at(home.path())).scope(gated).build().unwrap();
    let session = runtime.session().open().unwrap();
    let there = || {
        let toolbox = session.toolbox_blocking();
        ["by_env", "by_config"].map(|name| toolbox.offered().iter().any(|tool| tool.name().as_ref() == name))
    };

    let before = there();
    home.write(".env", "KEY=x\n");
    runtime.refresh().unwrap();
    let env = there();
    home.write("config.yaml", "extra:\n  on: true\n");
    runtime.refresh().unwrap();

    assert_eq!((before, env, there()), ([false, false], [true, false], [true, true]));
}

#[test]
fn tools_that_come_and_go_are_seen_by_open_sessions() {
    let runtime = Runtime::builder().build().unwrap();
    let session = runtime.session().open().unwrap();
    let status = || session.call_blocking(call("late")).status;

    let before = status();
    runtime.install(Scope::new(source()).tool(echo("late"))).unwrap();
    let during = status();
    runtime.remove(&source());

    assert_eq!((before, during, status()), (Status::Unknown, Status::Ok, Status::Unknown));
}

#[test]
fn a_tool_of_the_session_says_so_when_there_is_none() {
    let outcome = Runtime::builder().build().unwrap().call_blocking(call("todo"));

    assert_eq!(outcome.body, r#"{"error":"todo must be handled by the agent loop"}"#);
}

#[test]
fn a_name_that_is_taken_stops_the_build_in_words() {
    let clash = Scope::new(source()).tool(echo("todo"));

    let refused = Runtime::builder().scope(clash).build().err().map(|wrong| wrong.to_string());

    let why = "`todo` of `test` would shadow the one of hermes itself (toolset `todo`); \
               choose another name, or ask for an override";
    assert_eq!(refused.as_deref(), Some(why));
}

/// Ten megabytes in numbered lines.
fn large() -> ToolEntry {
    let run = |_, _| async {
        let lines: Vec<String> = (1..=400_000).map(|n| format!("line {n:>20}")).collect();
        Ok(json!({ "output": lines.join("\n"), "exit_code": 0 }))
    };
    ToolEntry::from_fn("large", "test", any_object(), |_, _| Vec::new(), run).trusted()
}

#[cfg(unix)]
#[test]
fn a_large_result_is_kept_for_its_owner_alone_and_can_be_read_in_pages() {
    let home = TempHome::new();
    let scope = Scope::new(source()).tool(large());
    let runtime = Runtime::builder().home(Home::at(home.path())).scope(scope).build().unwrap();
    let session = runtime.session().id("s1").open().unwrap();

    let outcome = session.call_blocking(call("large"));
    let path = outcome.spilled.clone().unwrap();
    let page = json!({ "path": path, "offset": 399_999, "limit": 10 });
    let read = json(&session.call_blocking(ToolCall::new("read_file", page.to_string())));

    assert!(path.starts_with(home.path()) && outcome.body.len() < 4000);
    assert_eq!(json(&outcome)["saved_to"], json!(path));
    assert_eq!(TempHome::mode(&path), 0o600);
    for folder in path.ancestors().skip(1).take_while(|folder| *folder != home.path()) {
        assert_eq!(TempHome::mode(folder), 0o700, "{}", folder.display());
    }
    assert_eq!((&read["total_lines"], &read["truncated"]), (&json!(400_000), &json!(false)));
    let content = read["content"].as_str().unwrap();
    assert!(content.contains("399999") && content.ends_with("line               400000"), "{content}");
}

#[test]
fn without_a_home_nothing_is_written_and_a_large_result_is_cut() {
    let outcome = with(large()).call_blocking(call("large"));

    assert_eq!((outcome.spilled.clone(), json(&outcome)["truncated"].clone()), (None, json!(true)));
}

#[test]
fn a_session_can_be_stopped_while_a_call_runs() {
    let latch = Arc::new(Latch::default());
    let runtime = with(stuck("stuck", Vec::new(), &latch));
    let session = runtime.session().open().unwrap();

    let (outcome, ()) =
        futures::executor::block_on(futures::future::join(session.call(call("stuck")), async {
            latch.until_arrived(1).await;
            session.cancel();
        }));

    assert_eq!(outcome.status, Status::Cancelled);
}

#[test]
fn a_handler_that_hangs_is_stopped_by_the_real_clock() {
    let endless = tool("endless", |_, _| std::future::pending::<Result<Value, ToolError>>());
    let runtime = with(endless.timeout(Duration::from_millis(5)));

    assert_eq!(runtime.call_blocking(call("endless")).status, Status::TimedOut);
}

#[test]
fn sessions_start_where_they_are_told() {
    let home = TempHome::new();
    home.write("notes.txt", "buy milk\n");
    let read = |session: hermes::Session| {
        let outcome = session.call_blocking(ToolCall::new("read_file", r#"{"path": "notes.txt"}"#));
        json(&outcome)["content"].as_str().map(str::to_owned)
    };
    let runtime = Runtime::builder().cwd("/nonexistent").build().unwrap();

    let here = read(runtime.session().cwd(home.path()).open().unwrap());
    let elsewhere = read(runtime.session().open().unwrap());

    assert!(here.is_some_and(|content| content.contains("buy milk")));
    assert_eq!(elsewhere, None);
}
