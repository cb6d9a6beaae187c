//! `terminal true` beside a bare `bash -c true`, in turns in the same run.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes and looks at the clock")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark tells what it measured")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::{Runtime, Session, ToolCall};

const ROUNDS: usize = 400;

struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

fn main() {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let runtime = Runtime::builder().cwd("/").env(variables).policy(Everything).build().unwrap();
    let session = runtime.session().open().unwrap();
    let bash = PathBuf::from("/bin/bash");
    for _ in 0..20 {
        bare(&bash);
        ours(&session);
    }
    let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare_times.push(bare(&bash));
        our_times.push(ours(&session));
    }
    let (bare, ours) = (median(bare_times), median(our_times));
    println!("bash -c true   {bare:?}");
    println!("terminal true  {ours:?}  {:.2} times as long", ours.as_secs_f64() / bare.as_secs_f64());
}

fn bare(bash: &PathBuf) -> Duration {
    let begin = Instant::now();
    let mut command = Command::new(bash);
    command.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::piped());
    assert!(command.output().unwrap().status.success());
    begin.elapsed()
}

fn ours(session: &Session) -> Duration {
    let begin = Instant::now();
    let outcome = session.call_blocking(ToolCall::new("terminal", r#"{"command": "true"}"#));
    let took = begin.elapsed();
    assert!(outcome.status.is_ok(), "{}", outcome.body);
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
