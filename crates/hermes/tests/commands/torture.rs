//! The owner is killed in the middle of everything: what should die dies, what should live is
//! found again.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
                    // At once and whole, whatever the other threads are doing.
                    println!("\njob {}", start(session, n));
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

fn start(session: &Session, n: usize) -> String {
    let command = format!("echo job {n}; read line; echo \"$line\"; sleep 100");
    let answer = call(session, "terminal", &json!({ "command": command, "background": true }));
    assert_eq!(answer["exit_code"], 0, "{answer}");
    answer["session_id"].as_str().unwrap().to_owned()
}

fn owner(bench: &Bench) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "torture::owner_process", "--ignored", "--nocapture"])
        .env(BENCH, bench.dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The leaders of the sessions of all processes that stand in a folder.
fn sessions_in(folder: &Path) -> BTreeSet<String> {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let here = all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder));
    let stats = here.filter_map(|process| fs::read_to_string(process.join("stat")).ok());
    let session = |stat: String| Some(stat.rsplit_once(") ")?.1.split(' ').nth(3)?.to_owned());
    stats.filter_map(session).collect()
}

#[test]
fn an_owner_killed_while_it_starts_jobs_leaves_only_jobs_that_are_found_again() {
    let bench = Bench::new();
    let mut owner = owner(&bench);
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut ids = lines.filter_map(|line| line.strip_prefix("job ").map(str::to_owned));
    let mut started: Vec<String> = ids.by_ref().take(JOBS / 2).collect();

    owner.kill().unwrap();
    owner.wait().unwrap();
    // What it could still say before it was gone counts as well.
    started.extend(ids);

    let runtime = with_keeper(bench.builder());
    let session = runtime.session().id("next").open().unwrap();
    let jobs = || {
        let listed = call(&session, "process", &json!({ "action": "list" }));
        listed["processes"].as_array().cloned().unwrap_or_default()
    };
    let text = |job: &Value, field: &str| job[field].to_string().trim_matches('"').to_owned();
    until("everything that runs is a job that is known", || {
        let known: BTreeSet<String> = jobs().iter().map(|job| text(job, "pid")).collect();
        sessions_in(&bench.work()).is_subset(&known)
    });
    let jobs = jobs();
    let found: BTreeSet<String> = jobs.iter().map(|job| text(job, "session_id")).collect();
    assert!(started.len() >= JOBS / 2 && started.iter().all(|id| found.contains(id)), "{started:?}");
    assert!(jobs.iter().all(|job| job["status"] == "running"), "{jobs:?}");
    for job in &jobs {
        call(&session, "process", &json!({ "action": "kill", "session_id": job["session_id"] }));
    }
    until("nothing is left", || sessions_in(&bench.work()).is_empty());
}

#[test]
fn a_killed_owner_leaves_its_jobs_and_nothing_else() {
    let bench = Bench::new();
    let mut owner = owner(&bench);
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
