//! How fast the store of sessions is: one line of JSON per measure.
//!
//! `cargo bench -p hermes-store --bench sessions [-- PATH]`: with a path, the large store is kept
//! there and used again.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and starts threads")]
#![expect(clippy::print_stdout, reason = "the numbers are the answer")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench that breaks should stop")]

#[path = "../tests/support/corpus.rs"]
mod corpus;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use corpus::Chance;
use futures::executor::block_on;
use futures::future::{BoxFuture, join_all};
use hermes_core::call::CallId;
use hermes_core::effect::Effect;
use hermes_core::host::Host;
use hermes_core::journal::{Journal, Starting};
use hermes_core::outcome::{Outcome, Status};
use hermes_store::sessions::{Clock, Durability, Message, NewSession, Order, Search, SessionStore, Sessions};
use serde_json::{Map, json};

const MESSAGES: usize = 100_000;

struct Real(Instant);

impl Clock for Real {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Host for Real {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, _time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    for durability in [Durability::Kill, Durability::PowerCut] {
        journal(&dir.path().join(format!("{durability:?}.db")), durability);
    }
    let kept = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let path = kept.map_or_else(|| dir.path().join("big.db"), PathBuf::from);
    if !path.exists() {
        fill(&path);
    }
    opening(&path);
    search(&path);
    append(&path);
}

fn open(path: &Path, durability: Durability) -> Sessions {
    Sessions::open(path, Arc::new(Real(Instant::now())), durability).unwrap()
}

/// One call after the other, and eight at once.
fn journal(path: &Path, durability: Durability) {
    let host: Arc<dyn Host> = Arc::new(Real(Instant::now()));
    let clock: Arc<dyn Clock> = Arc::new(Real(Instant::now()));
    let store = SessionStore::new(path, &host, &clock, durability);
    for at_once in [1, 8] {
        block_on(call(&store, at_once * 1_000_000));
        let started = Instant::now();
        let rounds = 200;
        for round in 0..rounds {
            let first = at_once * 1_000_000 + round * at_once + 1;
            block_on(join_all((first..first + at_once).map(|number| call(&store, number))));
        }
        let calls = f64::from(u32::try_from(rounds * at_once).unwrap());
        report(
            &format!("journal {durability:?} {at_once} at once, per call"),
            started.elapsed().div_f64(calls),
        );
    }
}

async fn call(store: &SessionStore, number: usize) {
    let id = CallId::from(format!("s.{number}"));
    let arguments = Map::from_iter([("command".to_owned(), json!("true"))]);
    let effects = [Effect::Read("/tmp".into())];
    let given_id = &format!("c{number}");
    store
        .starting(&Starting {
            id: &id,
            given_id,
            session: "s",
            tool: "terminal",
            arguments: &arguments,
            effects: &effects,
        })
        .await
        .unwrap();
    let outcome = Outcome {
        id,
        given_id: given_id.clone(),
        tool: "terminal".into(),
        status: Status::Ok,
        body: json!({ "output": "", "exit_code": 0, "error": null }).to_string(),
        spilled: None,
        attachments: Vec::new(),
        notes: Vec::new(),
        took: Duration::ZERO,
    };
    store.finished("s", &outcome).await.unwrap();
}

fn fill(path: &Path) {
    let store = open(path, Durability::Kill);
    let mut chance = Chance(7);
    let started = Instant::now();
    for session in 0..MESSAGES / 100 {
        let id = format!("s{session}");
        store.create(&NewSession { id: Some(id.clone()), ..NewSession::from("cli") }).unwrap();
        let messages: Vec<Message> = (0..100).map(|_| Message::text("user", chance.text(60))).collect();
        store.append(&id, &messages).unwrap();
    }
    report("append, per message (100 in a transaction)", started.elapsed().div_f64(100_000.0));
    println!(
        "{}",
        json!({ "what": "size of the store in MB", "value": store.stats().unwrap().bytes / 1_000_000 })
    );
}

fn opening(path: &Path) {
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            let started = Instant::now();
            drop(open(path, Durability::PowerCut));
            started.elapsed()
        })
        .collect();
    report("open and close, median", median(&mut times));
}

fn search(path: &Path) {
    let store = open(path, Durability::Kill);
    let mut chance = Chance(99);
    for (what, order) in [("best", Order::Best), ("newest", Order::Newest)] {
        let (mut times, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let text = chance.text(20);
            let words: Vec<&str> = text.split_whitespace().take(1 + chance.below(2)).collect();
            let search = Search { order, ..Search::text(words.join(" ")) };
            let (started, cpu) = (Instant::now(), on_cpu());
            store.search(&search).unwrap();
            busy.push(on_cpu().saturating_sub(cpu));
            times.push(started.elapsed());
        }
        report(&format!("search, {what} first, processor time, median"), median(&mut busy));
        report(&format!("search, {what} first, median"), median(&mut times));
        report(&format!("search, {what} first, 95 of 100"), times[times.len() * 95 / 100]);
        report(&format!("search, {what} first, worst"), times[times.len() - 1]);
    }
}

fn append(path: &Path) {
    let mut chance = Chance(5);
    for durability in [Durability::Kill, Durability::PowerCut] {
        let store = open(path, durability);
        let mut times = Vec::new();
        for _ in 0..100 {
            let message = Message::text("user", chance.text(60));
            let started = Instant::now();
            store.append("s0", &[message]).unwrap();
            times.push(started.elapsed());
        }
        report(&format!("append of one message {durability:?}, median"), median(&mut times));
        let long = Message::text("tool", chance.text(8_000));
        let started = Instant::now();
        store.append("s0", &[long]).unwrap();
        report(&format!("append of one long message {durability:?}"), started.elapsed());
    }
}

/// Processor time of this thread: what a measure would be on a machine with nothing else to do.
fn on_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn report(what: &str, time: Duration) {
    println!("{}", json!({ "what": what, "us": (time.as_secs_f64() * 1e7).round() / 10.0 }));
}
