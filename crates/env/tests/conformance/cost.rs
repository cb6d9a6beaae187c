//! What a call costs beside the bare client of the same place.

use std::time::{Duration, Instant};

use hermes_core::environment::{Run, ShellState};

use crate::bench::{Bench, usual};

/// Most a call may cost, as a multiple of what the bare client takes for the same command.
const MOST: f64 = 1.3;

/// Runs `true` by both, in turns, so that whatever else the machine does meets both. The bare client is
/// made ready after the first call, when there is a place for it. Says what it took in words that
/// `scripts/bench` reads.
pub(crate) fn no_more_than<B: Fn()>(name: &str, bench: &Bench, bare: impl FnOnce() -> B) {
    let permit = bench.permit("true");
    let mut shell = ShellState::default();
    let mut ours = || {
        let begin = Instant::now();
        let run = Run { shell: std::mem::take(&mut shell), ..usual() };
        shell = bench.runtime.block_on(bench.place.run(permit.clone(), run)).unwrap().shell;
        begin.elapsed()
    };
    let first = ours();
    let bare = bare();

    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let begin = Instant::now();
        bare();
        theirs.push(begin.elapsed());
        mine.push(ours());
    }

    let [first, mine, theirs] = [first, median(mine), median(theirs)].map(|time| time.as_secs_f64() * 1e3);
    let ratio = mine / theirs;
    eprintln!(
        "cost of {name}: first {first:.1} ms, then {mine:.2} ms, bare {theirs:.2} ms, ratio {ratio:.3}"
    );
    assert!(ratio < MOST, "{ratio:.2}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    *times.get(times.len() / 2).unwrap()
}
