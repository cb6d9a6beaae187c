//! Gigabytes of output take little memory: one of them, or five with `HERMES_TEST_FULL=1`. Alone in its
//! program, so that what is measured is this and nothing else.

#![expect(clippy::disallowed_methods, reason = "tests look at real processes")]
#![expect(clippy::unwrap_used, reason = "the helpers here are part of the tests")]

#[path = "../conformance/bench.rs"]
#[expect(dead_code, reason = "the suite uses more of it")]
mod bench;

use bench::Bench;
use hermes_core::environment::{End, Why};
use hermes_env::fence::Level;

/// A number of the status of this process, in kilobytes.
fn own(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn gigabytes_of_output_take_less_than_60_megabytes() {
    let bench = Bench::behind("local", Level::Off);
    let full = std::env::var("HERMES_TEST_FULL").is_ok_and(|full| full == "1");
    let size: u64 = if full { 5_000_000_000 } else { 1_000_000_000 };

    let ran = bench.run(&format!("head -c {size} /dev/zero; echo; echo the end"));

    assert_eq!(ran.why, Why::Ended(End::Code(0)));
    assert_eq!(ran.output.total, size + 9);
    assert!(ran.output.tail.ends_with(b"the end\n"));
    let most = own("VmHWM");
    assert!(most < 60_000, "{most} kB");
}
