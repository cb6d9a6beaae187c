//! The owner is killed in the middle of everything: what should die dies, what should live is
//! found again.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use hermes::Session;
use serde_json::{Value, json};

use crate::process::with_keeper;
use crate::support::{Bench, call, runs, until};

/// How many jobs are running when the owner is killed.
const JOBS: usize = 200;

/// Where the owner below finds its bench.
const BENCH: &str = "HERMES_TEST_BENCH";

/// Not a test: a program that owns jobs and a running command, until it is killed.
#[test]
#[ignore = "the test below starts it"]
fn owner_process() {
    let bench = Bench::at(Path::new(&std::env::var(BENCH).unwrap()));
    let runtime = with_keeper(bench.builder());
    let session = runtime.session().id("owner").open().unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for n in (part..JOBS).step_by(4) {
                    start(session, n);
                }
            });
        }
    });
    println!("\nstarted");
    // Two commands in the foreground, one of them with a child that has left home.
    std::thread::scope(|scope| {
        scope.spawn(|| foreground(&bench, "fg1", "echo $$ > fg1; sleep 100"));
        scope.spawn(|| foreground(&bench, "fg2", "setsid sh -c 'echo $$ > fg2; sleep 100' & sleep 100"));
    });
}

fn foreground(bench: &Bench, name: &str, script: &str) {
    fs::write(bench.work().join(format!("{name}.sh")), script).unwrap();
    call(&bench.session(), "terminal", &json!({ "command": format!("bash {name}.sh") }));
}

fn start(session: &Session, n: usize) {
    let command = format!("echo job {n}; read line; echo \"$line\"; sleep 100");
    let answer = call(session, "terminal", &json!({ "command": command, "background": true }));
    assert_eq!(answer["exit_code"], 0, "{answer}");
}

#[test]
fn a_killed_owner_leaves_its_jobs_and_nothing_else() {
    let bench = Bench::new();
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "torture::owner_process", "--ignored", "--nocapture"])
        .env(BENCH, bench.dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == "started")));
    let pid_in = |name: &str| fs::read_to_string(bench.work().join(name)).unwrap_or_default();
    until("the commands run", || ["fg1", "fg2"].iter().all(|name| pid_in(name).ends_with('\n')));

    owner.kill().unwrap();
    owner.wait().unwrap();

    for name in ["fg1", "fg2"] {
        until("the commands are gone", || !runs(&pid_in(name)));
    }
    let runtime = with_keeper(bench.builder());
    let session = runtime.session().id("next").open().unwrap();
    let listed = call(&session, "process", &json!({ "action": "list" }));
    let jobs = listed["processes"].as_array().cloned().unwrap_or_default();
    assert_eq!(jobs.len(), JOBS);
    assert!(jobs.iter().all(|job| job["status"] == "running" && job["detached"] == true), "{listed}");
    let id = jobs[JOBS / 2]["session_id"].as_str().unwrap();
    call(&session, "process", &json!({ "action": "submit", "session_id": id, "data": "still here" }));
    until("it answers", || poll(&session, id)["output_preview"].as_str().unwrap().ends_with("\nstill here"));
    let pids: Vec<String> = jobs.iter().map(|job| job["pid"].to_string()).collect();
    for job in &jobs {
        let killed = call(&session, "process", &json!({ "action": "kill", "session_id": job["session_id"] }));
        assert_eq!(killed["status"], "killed", "{killed}");
    }
    assert!(pids.iter().all(|pid| !runs(pid)));
}

fn poll(session: &Session, id: &str) -> Value {
    call(session, "process", &json!({ "action": "poll", "session_id": id }))
}
