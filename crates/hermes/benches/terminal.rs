//! `terminal true` beside a bare `bash -c true`, in turns in the same run, and beside a command that leaves
//! something for the next; how long a command that does not want to stop lives on when its call is cancelled;
//! and `patch` on a file of 5,000 lines.

#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes and looks at the clock")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark tells what it measured")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::{Runtime, Session, Status, ToolCall};

const ROUNDS: usize = 400;

/// Patches of one file.
const PATCHES: usize = 200;

/// Calls that are cancelled.
const CANCELLED: usize = 20;

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
        ours(&session, "true");
        ours(&session, "export A=1");
    }
    let [mut bare_times, mut our_times, mut lasting_times] = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        bare_times.push(bare(&bash));
        our_times.push(ours(&session, "true"));
        lasting_times.push(ours(&session, "export A=1"));
    }
    let bare = median(bare_times);
    println!("bash -c true   {bare:?}");
    for (name, times) in [("terminal true", our_times), ("export A=1   ", lasting_times)] {
        let ours = median(times);
        println!("{name}  {ours:?}  {:.2} times as long", ours.as_secs_f64() / bare.as_secs_f64());
    }
    for name in ["a.py", "a.txt"] {
        println!("patch {name:<8} {:?}", patched(&runtime, name));
    }
    let mut ends: Vec<Duration> = (0..CANCELLED).map(|round| cancelled(&runtime, round)).collect();
    ends.sort();
    let worst = ends.last().copied().unwrap_or_default();
    println!("cancel to end  {:?}  at most {worst:?}, of a command that ignores TERM", median(ends));
}

/// The time from the cancel of a call to its end; its command and the child of that ignore TERM.
fn cancelled(runtime: &Runtime, round: usize) -> Duration {
    let session = runtime.session().open().unwrap();
    let sign = std::env::temp_dir().join(format!("hermes-bench-{}-{round}", std::process::id()));
    let command = format!("trap '' TERM; : > {}; sleep 60; sleep 60", sign.display());
    let call = ToolCall::new("terminal", serde_json::json!({ "command": command }).to_string());
    let took = std::thread::scope(|scope| {
        let running = scope.spawn(|| session.call_blocking(call));
        while !Path::exists(&sign) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let begin = Instant::now();
        session.cancel();
        let outcome = running.join().unwrap();
        assert_eq!(outcome.status, Status::Cancelled, "{}", outcome.body);
        begin.elapsed()
    });
    std::fs::remove_file(sign).unwrap();
    took
}

fn bare(bash: &PathBuf) -> Duration {
    let begin = Instant::now();
    let mut command = Command::new(bash);
    command.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::piped());
    assert!(command.output().unwrap().status.success());
    begin.elapsed()
}

fn ours(session: &Session, command: &str) -> Duration {
    let call = ToolCall::new("terminal", serde_json::json!({ "command": command }).to_string());
    let begin = Instant::now();
    let outcome = session.call_blocking(call);
    let took = begin.elapsed();
    assert!(outcome.status.is_ok(), "{}", outcome.body);
    took
}

/// The median time of a patch that changes one line of 5,000.
fn patched(runtime: &Runtime, name: &str) -> Duration {
    let session = runtime.session().open().unwrap();
    let folder = std::env::temp_dir().join(format!("hermes-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let lines: Vec<String> =
        (0..5000).map(|n| format!("value_{n} = compute({n}, 'text {n}')  # note\n")).collect();
    std::fs::write(&path, lines.concat()).unwrap();
    let times = (0..PATCHES).map(|round| {
        let (old, new) = if round % 2 == 0 { ("2500", "changed") } else { ("changed", "2500") };
        let patch = format!(
            "*** Begin Patch\n*** Update File: {}\n-value_{old} = compute(2500, 'text 2500')  # note\n\
             +value_{new} = compute(2500, 'text 2500')  # note\n*** End Patch\n",
            path.display()
        );
        let call = ToolCall::new("patch", serde_json::json!({ "mode": "patch", "patch": patch }).to_string());
        let begin = Instant::now();
        let outcome = session.call_blocking(call);
        let took = begin.elapsed();
        assert!(outcome.status.is_ok(), "{}", outcome.body);
        took
    });
    let took = median(times.collect());
    std::fs::remove_dir_all(folder).unwrap();
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
