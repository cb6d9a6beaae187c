//! How good and how fast the judge is: recall and false alarms on the corpus by technique, the
//! time for a command, and the time for the hardest lines of 100 KB.
//!
//! `cargo run --release --example corpus [list | --json]`

#![expect(clippy::disallowed_methods, reason = "it reads the corpus")]

#[path = "../benches/shapes/mod.rs"]
mod shapes;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use hermes_guard::{Context, Judgement, Verdict, judge};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// How long a hard line is, in bytes.
const LONG: usize = 100_000;

/// One command of the corpus.
struct Entry {
    /// Folder and file it is in.
    technique: String,
    dangerous: bool,
    never: bool,
    command: String,
    context: Context,
}

/// How many were judged right.
#[derive(Default)]
struct Count {
    right: u32,
    all: u32,
}

impl Count {
    fn percent(&self) -> f64 {
        100.0 * f64::from(self.right) / f64::from(self.all.max(1))
    }
}

/// What is known of one side after judging it.
#[derive(Default)]
struct Side {
    count: Count,
    never_too_many: u32,
    never_missing: u32,
}

#[expect(clippy::print_stdout, reason = "this program reports to a person")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = env::args().nth(1).unwrap_or_default();
    let entries = entries()?;
    let mut techniques: BTreeMap<&str, Count> = BTreeMap::new();
    let mut sides: BTreeMap<bool, Side> = BTreeMap::new();
    for entry in &entries {
        let judgement = judge(&entry.command, &entry.context);
        let right = (judgement.verdict > Verdict::Allow) == entry.dangerous;
        let side = sides.entry(entry.dangerous).or_default();
        side.never_too_many += u32::from(judgement.never && !entry.never);
        side.never_missing += u32::from(!judgement.never && entry.never);
        for count in [&mut side.count, techniques.entry(&entry.technique).or_default()] {
            count.right += u32::from(right);
            count.all += 1;
        }
        if word == "list" {
            complain(entry, &judgement, right);
        }
    }
    let (danger, harmless) =
        (sides.remove(&true).unwrap_or_default(), sides.remove(&false).unwrap_or_default());
    let times = times(&entries);
    let shapes = shape_times();
    if word == "--json" {
        let techniques: BTreeMap<_, _> =
            techniques.iter().map(|(name, count)| (name, count.percent())).collect();
        println!(
            "{}",
            json!({
                "recall_percent": danger.count.percent(),
                "false_alarms_percent": 100.0 - harmless.count.percent(),
                "never_missed": danger.never_missing + harmless.never_missing,
                "never_too_many": danger.never_too_many + harmless.never_too_many,
                "harmless_denied": harmless.never_too_many,
                "techniques": techniques,
                "median_us": times,
                "shapes_ms": shapes,
            })
        );
        return Ok(());
    }
    for (name, side) in [("danger", &danger), ("harmless", &harmless)] {
        println!(
            "{name}: {} of {} right; never list: {} too many, {} missing",
            side.count.right, side.count.all, side.never_too_many, side.never_missing
        );
    }
    for (name, count) in &techniques {
        println!("{name:32} {:5}/{:<5} {:.1} %", count.right, count.all, count.percent());
    }
    let worst = shapes.iter().max_by(|a, b| a.1.total_cmp(b.1));
    println!("median {times:.2} µs for a command; worst line of 100 KB: {worst:?} ms");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this program reports to a person")]
fn complain(entry: &Entry, judgement: &Judgement, right: bool) {
    let Entry { technique, command, .. } = entry;
    if !right {
        println!("WRONG {technique} {command:?} {}", judgement.why);
    } else if judgement.never != entry.never {
        println!("never={} {technique} {command:?} {}", judgement.never, judgement.why);
    }
}

/// Every command of the corpus, in the order of its files.
fn entries() -> Result<Vec<Entry>, Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut entries = Vec::new();
    for side in ["danger", "harmless"] {
        let mut files: Vec<_> = fs::read_dir(root.join(side))?.collect::<Result<_, _>>()?;
        files.sort_by_key(fs::DirEntry::file_name);
        for file in files {
            let technique =
                format!("{side}/{}", file.path().file_stem().unwrap_or_default().to_string_lossy());
            for line in fs::read_to_string(file.path())?.lines() {
                let entry: Value = serde_json::from_str(line)?;
                let text = |key: &str| entry.get(key).and_then(Value::as_str);
                entries.push(Entry {
                    technique: technique.clone(),
                    dangerous: side == "danger",
                    never: entry.get("never").and_then(Value::as_bool).unwrap_or(false),
                    command: text("cmd").unwrap_or_default().to_owned(),
                    context: Context::new(text("cwd").unwrap_or("/home/user/project"), "/home/user"),
                });
            }
        }
    }
    Ok(entries)
}

/// Seconds this thread has worked; what others do on the machine does not count.
fn worked() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default()).as_secs_f64()
}

/// How long something takes at its best, in seconds of work.
fn best(rounds: u32, mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let begun = worked();
        work();
        worked() - begun
    };
    (0..rounds).map(once).fold(f64::MAX, f64::min)
}

/// How long the command in the middle takes, in microseconds.
fn times(entries: &[Entry]) -> f64 {
    let judged =
        |entry: &Entry| 1e6 * best(5, || drop(std::hint::black_box(judge(&entry.command, &entry.context))));
    let mut times: Vec<f64> = entries.iter().map(judged).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How long each hard line takes, in milliseconds.
fn shape_times() -> BTreeMap<&'static str, f64> {
    let context = Context::new("/home/user/project", "/home/user");
    let judged = |(name, unit): &(&'static str, &str)| {
        let line = unit.repeat(LONG / unit.len());
        (*name, 1e3 * best(20, || drop(std::hint::black_box(judge(&line, &context)))))
    };
    shapes::UNITS.iter().map(judged).collect()
}
