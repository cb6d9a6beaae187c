//! Idle places are stopped, and what a run that was killed has left is swept by the next.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::doubles::Double;
use crate::support::{Bench, Engine, builder, call, fresh, instance, output, until};

/// Tells the test below that it is the run that is to be killed: its folder and its place.
const KILLED: &str = "HERMES_TEST_KILLED_RUN";

#[test]
fn an_idle_container_is_stopped_and_used_again() {
    Engine::all().iter().for_each(idle);
}

fn idle(engine: &Engine) {
    let name = fresh("idle");
    let section = engine.section(&json!({ "persist_across_processes": true, "lifetime_seconds": 1 }));
    let bench = Bench::new(&json!({ "environments": { &name: section } }));
    let runtime = bench.runtime();
    let session = runtime.session().environment(&name).open().unwrap();
    output(&session, "true");
    assert_eq!(engine.containers(&name).len(), 1);

    until("it is stopped", || engine.containers(&name)[0].ends_with("Exited"));

    assert_eq!(output(&session, "echo again"), "again");
    runtime.close_environment(&name, true).unwrap();
    assert_eq!(engine.containers(&name), Vec::<String>::new());
}

#[test]
fn an_idle_instance_is_stopped_and_used_again() {
    let Some(mut section) = instance() else { return };
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    section["scratch_dir"] = json!(dir.path());
    section["lifetime_seconds"] = json!(1);
    let program = section["binary"].as_str().unwrap().to_owned();
    let bench = Bench::new(&json!({ "environments": { "cluster": section } }));
    let session = bench.runtime().session().environment("cluster").open().unwrap();
    let runs = || {
        let mut list = Command::new(&program);
        let said = list.args(["instance", "list"]).env("HOME", bench.path("user")).output().unwrap();
        String::from_utf8_lossy(&said.stdout).contains("hermes_")
    };
    output(&session, "true");

    until("it is stopped", || !runs());

    assert_eq!(output(&session, "echo again"), "again");
}

#[test]
fn an_idle_sandbox_of_a_vendor_is_stopped_and_used_again_with_its_files() {
    for (vendor, api) in [("daytona", "/api"), ("modal", ""), ("vercel_sandbox", "/api")] {
        let Some(double) = Double::start(vendor) else { return };
        let url = format!("http://127.0.0.1:{}{api}", double.port);
        let section = json!({ "backend": vendor, "api_url": url, "cwd": "~", "lifetime_seconds": 1 });
        let bench = Bench::new(&json!({ "environments": { "far": section } }));
        let runtime = bench.runtime();
        let session = runtime.session().environment("far").open().unwrap();
        // The home of a sandbox may be called otherwise the next time.
        output(&session, "cd /tmp; echo kept > ~/f");

        until("it is stopped", || double.sandboxes().iter().all(|one| one["state"] != "started"));

        assert_eq!(output(&session, "cat ~/f"), "kept");
        runtime.close_environment("far", true).unwrap();
        assert_eq!(double.sandboxes(), Vec::<Value>::new());
    }
}

#[test]
fn a_place_with_something_in_the_background_is_not_idle() {
    Engine::all().iter().for_each(busy);
}

fn busy(engine: &Engine) {
    let name = fresh("busy");
    let section = engine.section(&json!({ "lifetime_seconds": 1 }));
    let bench = Bench::new(&json!({ "environments": { &name: section } }));
    let session = bench.runtime().session().environment(&name).open().unwrap();

    let job = call(&session, "terminal", &json!({ "command": "sleep 4; echo done", "background": true }));

    let wait = json!({ "action": "wait", "session_id": job["session_id"], "timeout": 20 });
    let ended = call(&session, "process", &wait);
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("exited"), &json!(0)), "{ended}");
    until("it is gone", || engine.containers(&name).is_empty());
}

#[test]
fn what_a_killed_run_left_is_swept_by_the_next_and_nothing_else_is() {
    match std::env::var(KILLED) {
        Ok(run) => be_killed(&run),
        Err(_) => Engine::all().iter().for_each(left),
    }
}

fn left(engine: &Engine) {
    let (name, other) = (fresh("swept"), fresh("kept"));
    let environments = json!({
        &name: engine.section(&json!({})),
        &other: engine.section(&json!({ "persist_across_processes": true })),
    });
    let bench = Bench::new(&json!({ "environments": environments }));
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "ends::what_a_killed_run_left_is_swept_by_the_next_and_nothing_else_is",
            "--nocapture",
        ])
        .env(KILLED, format!("{} {name} {other}", bench.path("").display()))
        .spawn()
        .unwrap();
    until("both run", || bench.path("work/ready").exists());
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!((engine.containers(&name).len(), engine.containers(&other).len()), (1, 1));
    let left = engine.containers(&name);

    let runtime = bench.runtime();
    let session = runtime.session().environment(&name).open().unwrap();
    output(&session, "true");

    let now = engine.containers(&name);
    assert!(now.len() == 1 && now != left, "{now:?}");
    assert_eq!(engine.containers(&other).len(), 1);
    runtime.close_environment(&other, true).unwrap();
}

/// Opens both places, tells so, and waits for its end.
fn be_killed(run: &str) {
    let mut words = run.split(' ');
    let dir = Path::new(words.next().unwrap());
    let runtime = builder(dir).build().unwrap();
    for name in words {
        output(&runtime.session().environment(name).open().unwrap(), "true");
    }
    std::fs::write(dir.join("work/ready"), "").unwrap();
    std::thread::sleep(std::time::Duration::from_mins(2));
}
