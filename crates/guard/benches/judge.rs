//! How fast a judgement is: everyday commands, and very long lines of every hard shape; and how
//! fast redaction is on text without secrets.

mod shapes;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_guard::redact::Redactor;
use hermes_guard::{Context, judge};

const EVERYDAY: [&str; 12] = [
    "git status",
    "cargo test -p hermes-core -- --nocapture",
    "rm -rf ./target && cargo build --release",
    "grep -rn 'fn main' src | head -20",
    "for f in *.rs; do wc -l \"$f\"; done",
    "curl -fsSL https://example.com/api/v1/items?limit=10 | jq '.items[].name'",
    "find . -name '*.pyc' -delete",
    "docker compose up -d && docker compose logs -f web",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"version\"])'",
    "echo cm0gLXJmIC8= | base64 -d | sh",
    "git commit -m \"Fix the parser: rm -rf / in a message is data\"",
    "cat > notes.md <<'EOF'\n# Notes\nnever run rm -rf /\nEOF",
];

fn benches(criterion: &mut Criterion) {
    let context = Context::new("/work/project", "/home/me");
    criterion.bench_function("judge_median", |bench| {
        let mut commands = EVERYDAY.iter().cycle();
        bench.iter(|| commands.next().map(|command| judge(black_box(command), &context)));
    });
    let mut group = criterion.benchmark_group("judge_100kb");
    for (name, unit) in shapes::UNITS {
        let text = unit.repeat(100_000 / unit.len());
        group.bench_function(*name, |bench| bench.iter(|| judge(black_box(&text), &context)));
    }
    group.finish();
}

fn redaction(criterion: &mut Criterion) {
    let redactor = Redactor::new(["correct-horse-battery-staple", "a1B2c3D4e5F6g7H8i9J0"]);
    let prose =
        "The build took 12 seconds; nothing in it is secret, and the next line is alike.\n".repeat(13_000);
    let mut group = criterion.benchmark_group("redact_1mb");
    group.throughput(Throughput::Bytes(prose.len() as u64));
    group.bench_function("prose", |bench| bench.iter(|| redactor.redact(black_box(&prose)).len()));
    group.finish();
}

criterion_group!(judging, benches, redaction);
criterion_main!(judging);
