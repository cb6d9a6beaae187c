//! How fast a judgement is: everyday commands, and very long lines of every hard shape.

mod shapes;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
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

criterion_group!(judging, benches);
criterion_main!(judging);
