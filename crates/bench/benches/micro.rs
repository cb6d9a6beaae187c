//! The micro lines: definitions, the road, argument repair, a batch, and what a crowd of tools costs.
//!
//! Their medians are compared with the budgets by `scripts/bench`.

#![expect(clippy::disallowed_methods, reason = "benches keep their own time and own their runtime")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has nothing to measure")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use hermes::{Runtime, Session, ToolCall};
use hermes_bench::{crowd, subject};
use hermes_core::availability::Change;
use hermes_core::json::parse_arguments;
use hermes_core::tool::ToolDef;
use tokio::runtime::Builder;

const CLEAN: &str =
    r#"{"path": "src/main.rs", "offset": 40, "limit": 200, "text": "a \"quoted\" word\nand a second line"}"#;

/// A fence around it, other quotes, a bare key, a trailing comma, and the end is missing.
const BROKEN: &str = "```json\n{'path': 'src/main.rs', offset: 40, \"limit\": 200,, \"text\": \"a \\\"quoted\\\" word\nand a second";

fn session(runtime: &Runtime) -> Session {
    runtime.session().open().unwrap()
}

fn definitions(c: &mut Criterion) {
    let runtime = subject::runtime().unwrap();
    let session = session(&runtime);
    c.bench_function("definitions_warm", |b| b.iter(|| session.toolbox_blocking()));
    c.bench_function("definitions_cold", |b| {
        b.iter(|| {
            runtime.announce(&Change::Config);
            session.toolbox_blocking().json().len()
        });
    });
}

/// Time for so many calls in a row, awaited inside a runtime that is already running.
async fn awaited(session: &Session, tool: &ToolDef, calls: u64) -> Duration {
    let call = subject::call(tool);
    let begun = Instant::now();
    for _ in 0..calls {
        let outcome = session.call(call.clone()).await;
        assert!(outcome.status.is_ok(), "{}", outcome.body);
    }
    begun.elapsed()
}

fn dispatch(c: &mut Criterion) {
    let runtime = subject::runtime().unwrap();
    let session = session(&runtime);
    let threads = Builder::new_current_thread().build().unwrap();
    let call = subject::call(&subject::NOOP);
    c.bench_function("dispatch_sync", |b| b.iter(|| session.call_blocking(call.clone())));
    c.bench_function("dispatch_async", |b| {
        b.iter_custom(|calls| threads.block_on(awaited(&session, &subject::NOOP, calls)));
    });
    c.bench_function("dispatch_inside_runtime", |b| {
        threads.block_on(async { b.iter(|| session.call_blocking(call.clone())) });
    });
    c.bench_function("dispatch_blocking_handler", |b| {
        b.iter_custom(|calls| threads.block_on(awaited(&session, &subject::NOOP_BLOCKING, calls)));
    });
}

/// The whole road: arguments as text, coerced, checked, no hooks, policy, run, shaped; no journal.
fn road(c: &mut Criterion) {
    let runtime = subject::runtime().unwrap();
    let session = session(&runtime);
    let threads = Builder::new_current_thread().build().unwrap();
    c.bench_function("road_noop", |b| {
        b.iter_custom(|calls| threads.block_on(awaited(&session, &subject::NOOP, calls)));
    });
}

fn repair(c: &mut Criterion) {
    assert!(!parse_arguments(CLEAN).unwrap().mended);
    assert!(parse_arguments(BROKEN).unwrap().truncated);
    c.bench_function("repair_clean", |b| b.iter(|| parse_arguments(black_box(CLEAN))));
    c.bench_function("repair_broken", |b| b.iter(|| parse_arguments(black_box(BROKEN))));
}

fn batch(c: &mut Criterion) {
    let runtime = subject::runtime().unwrap();
    let session = session(&runtime);
    let calls: Vec<ToolCall> = (0..8).map(|_| subject::call(&subject::NOOP)).collect();
    c.bench_function("batch_8", |b| b.iter(|| session.batch_blocking(calls.clone())));
}

fn many_tools(c: &mut Criterion) {
    let table = crowd::table();
    let registry = crowd::registry(&table).unwrap();
    let offered = crowd::definitions(&registry).unwrap().offered().len();
    assert!(table.len() > 70 && offered > 30, "{} tools, {offered} offered", table.len());
    c.bench_function("crowd_registry", |b| b.iter(|| crowd::registry(&table)));
    c.bench_function("crowd_list", |b| b.iter(|| crowd::list(&crowd::registry(&table).unwrap())));
    c.bench_function("crowd_definitions", |b| {
        b.iter(|| crowd::definitions(&crowd::registry(&table).unwrap()).unwrap().json().len());
    });
}

criterion_group!(micro, definitions, dispatch, road, repair, batch, many_tools);
criterion_main!(micro);
