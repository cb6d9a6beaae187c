//! Background processes, through the road, with real keepers.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Bench, call, runs, until};
use hermes::core::jobs::Happening;
use hermes::{Runtime, RuntimeBuilder, Session};
use serde_json::{Value, json};

/// Not a test: this program as a keeper, started by the tests below.
#[test]
#[ignore = "the tests start it themselves"]
fn keeper_process() {
    hermes::run_as_keeper().unwrap();
}

pub(crate) fn with_keeper(builder: RuntimeBuilder) -> Runtime {
    let own = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let words = [own.as_str(), "--exact", "process::keeper_process", "--ignored", "--nocapture"];
    builder.keeper(words.map(str::to_owned)).build().unwrap()
}

fn start(session: &Session, arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    arguments["background"] = json!(true);
    let answer = call(session, "terminal", &arguments);
    assert_eq!(answer["output"], "Background process started", "{answer}");
    answer["session_id"].as_str().unwrap().to_owned()
}

fn process(session: &Session, action: &str, id: &str) -> Value {
    call(session, "process", &json!({ "action": action, "session_id": id }))
}

/// The same story for both kinds of keeper.
fn both(story: impl Fn(&Bench, Runtime)) {
    let bench = Bench::new();
    story(&bench, bench.builder().build().unwrap());
    let bench = Bench::new();
    story(&bench, with_keeper(bench.builder()));
}

#[test]
fn a_job_runs_on_is_waited_for_and_leaves_its_log() {
    both(|bench, runtime| {
        let session = runtime.session().open().unwrap();
        call(
            &session,
            "terminal",
            &json!({ "command": "export GREETING=hello; greet() { echo $GREETING $1; }" }),
        );

        let id = start(&session, &json!({ "command": "greet you; seq 1 300; echo >&2 err; exit 3" }));
        let waited = process(&session, "wait", &id);

        assert!(id.starts_with("proc_") && id.len() == 17, "{id}");
        assert_eq!(waited["status"], "exited", "{waited}");
        assert_eq!(waited["exit_code"], 3);
        assert_eq!(waited["completion_reason"], "exited");
        assert!(waited["output"].as_str().unwrap().ends_with("\n300\nerr"));
        let log =
            call(&session, "process", &json!({ "action": "log", "session_id": id, "offset": 0, "limit": 3 }));
        assert_eq!(log["output"], "hello you\n1\n2");
        assert_eq!(log["total_lines"], 302);
        assert_eq!(log["next_offset"], 3);
        let last = call(&session, "process", &json!({ "action": "log", "session_id": id, "offset": -2 }));
        assert_eq!(last["output"], "300\nerr");
        let listed = call(&session, "process", &json!({ "action": "list" }));
        assert_eq!(listed["processes"][0]["session_id"], id.as_str());
        assert_eq!(listed["processes"][0]["cwd"], bench.work().to_string_lossy().as_ref());
    });
}

#[test]
fn a_job_is_typed_to_with_and_without_a_terminal() {
    for pty in [false, true] {
        both(|_, runtime| {
            let session = runtime.session().open().unwrap();
            let id =
                start(&session, &json!({ "command": "read a; echo \"[$a]\"; cat; echo end", "pty": pty }));

            let submitted =
                call(&session, "process", &json!({ "action": "submit", "session_id": id, "data": "one" }));
            assert_eq!(submitted, json!({ "session_id": id, "status": "ok", "bytes_written": 4 }));
            call(&session, "process", &json!({ "action": "write", "session_id": id, "data": "two\n" }));
            until("it reads", || {
                process(&session, "poll", &id)["output_preview"].as_str().unwrap().contains("[one]\ntwo")
            });
            assert_eq!(process(&session, "close", &id)["status"], "ok");

            let waited = process(&session, "wait", &id);
            assert_eq!(waited["exit_code"], 0, "{waited}");
            assert!(waited["output"].as_str().unwrap().ends_with("two\nend"), "{waited}");
            let late =
                call(&session, "process", &json!({ "action": "write", "session_id": id, "data": "x" }));
            assert_eq!(late["error"], "cannot write to the process: it has ended");
        });
    }
}

#[test]
fn killing_a_job_ends_everything_it_started() {
    both(|bench, runtime| {
        let session = runtime.session().open().unwrap();
        let command = "trap '' TERM; sleep 1000 & echo $! > pids; setsid sleep 1000 & echo $! >> pids; echo up; wait; sleep 1000";
        let id = start(&session, &json!({ "command": command }));
        until("it is up", || process(&session, "poll", &id)["output_preview"] == "up");

        let killed = process(&session, "kill", &id);

        assert_eq!(killed["status"], "killed", "{killed}");
        assert_eq!(killed["completion_reason"], "killed");
        for pid in fs::read_to_string(bench.work().join("pids")).unwrap().lines() {
            assert!(!runs(pid), "{pid}");
        }
        assert_eq!(process(&session, "kill", &id)["status"], "already_exited");
    });
}

#[test]
fn a_job_belongs_to_its_session() {
    both(|_, runtime| {
        let [a, b] = [(); 2].map(|()| runtime.session().open().unwrap());
        let id = start(&a, &json!({ "command": "sleep 1000" }));

        assert_eq!(process(&b, "kill", &id)["status"], "not_found");
        assert_eq!(call(&b, "process", &json!({ "action": "list" })), json!({ "processes": [] }));
        assert_eq!(process(&a, "kill", &id)["status"], "killed");
    });
}

#[test]
fn waiting_ends_in_time_and_leaves_the_job_alone() {
    both(|_, runtime| {
        let session = runtime.session().open().unwrap();
        let id = start(&session, &json!({ "command": "echo begun; sleep 1000" }));

        let begin = Instant::now();
        let waited = call(&session, "process", &json!({ "action": "wait", "session_id": id, "timeout": 1 }));

        assert_eq!(waited["status"], "timeout", "{waited}");
        assert_eq!(waited["output"], "begun");
        assert!(begin.elapsed() < Duration::from_secs(3));
        assert_eq!(process(&session, "poll", &id)["status"], "running");
        process(&session, "kill", &id);
    });
}

#[test]
fn a_session_is_told_what_it_wanted_to_know() {
    both(|_, runtime| {
        let session = runtime.session().id("told").open().unwrap();
        let ends = start(&session, &json!({ "command": "echo done; exit 2", "notify_on_complete": true }));
        let ready = start(
            &session,
            &json!({ "command": "printf 'serv'; echo 'er ready'; sleep 1000", "watch_patterns": ["server ready"] }),
        );

        let mut told = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(10);
        while told.len() < 2 && Instant::now() < deadline {
            told.extend(runtime.notices());
            std::thread::sleep(Duration::from_millis(10));
        }

        assert!(told.iter().all(|notice| notice.session == "told"));
        let of = |id: &str| told.iter().find(|notice| notice.job == id).map(|notice| notice.what.clone());
        let Some(Happening::Ended { state, output }) = of(&ends) else { panic!("{told:?}") };
        assert_eq!((state.code(), output.as_str()), (Some(2), "done\n"));
        assert_eq!(of(&ready), Some(Happening::Seen { lines: "server ready".to_owned(), suppressed: 0 }));
        process(&session, "kill", &ready);
    });
}

#[test]
fn a_job_is_found_again_by_the_next_run_and_its_log_has_gone_on() {
    let bench = Bench::new();
    let id;
    let pid;
    {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        id = start(&session, &json!({ "command": "echo one; read x; echo $x; exit 5" }));
        until("it writes", || process(&session, "poll", &id)["output_preview"] == "one");
        pid = process(&session, "poll", &id)["pid"].to_string();
    }
    assert!(runs(&pid), "the job went with its owner");

    let runtime = with_keeper(bench.builder());
    let session = runtime.session().id("s").open().unwrap();

    assert_eq!(process(&session, "poll", &id)["status"], "running");
    call(&session, "process", &json!({ "action": "submit", "session_id": id, "data": "two" }));
    let waited = process(&session, "wait", &id);
    assert_eq!(waited["exit_code"], 5, "{waited}");
    assert_eq!(waited["output"], "one\ntwo");
}

#[test]
fn what_happened_while_nobody_was_there_is_told_later_and_once() {
    let bench = Bench::new();
    {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        let waits = "until [ -e go ]; do sleep 0.05; done; echo found it";
        start(&session, &json!({ "command": waits, "notify_on_complete": true }));
        start(&session, &json!({ "command": waits, "watch_patterns": ["found"] }));
    }
    fs::write(bench.work().join("go"), "").unwrap();
    let told = || {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        let over = |job: &Value| job["status"] == "exited";
        until("both are over", || {
            let listed = call(&session, "process", &json!({ "action": "list" }));
            listed["processes"].as_array().is_some_and(|jobs| jobs.len() == 2 && jobs.iter().all(over))
        });
        let mut told = Vec::new();
        for _ in 0..100 {
            told.extend(runtime.notices());
            std::thread::sleep(Duration::from_millis(10));
        }
        told.sort_by_key(|notice| matches!(notice.what, Happening::Ended { .. }));
        told.into_iter().map(|notice| notice.what).collect::<Vec<_>>()
    };

    let first = told();

    assert!(
        matches!(first.as_slice(), [Happening::Seen { lines, .. }, Happening::Ended { output, .. }]
        if lines == "found it" && output == "found it\n"),
        "{first:?}"
    );
    assert_eq!(told(), []);
}

#[test]
fn what_an_owner_heard_but_never_took_is_told_to_the_next() {
    let bench = Bench::new();
    let started = {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        let command = json!({ "command": "echo found it", "watch_patterns": ["found"] });
        let seen = start(&session, &command);
        let ended = start(&session, &json!({ "command": "echo done", "notify_on_complete": true }));
        until("both are over", || {
            [&seen, &ended].iter().all(|id| process(&session, "poll", id)["status"] == "exited")
        });
        [seen, ended]
    };
    let told = || {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        call(&session, "process", &json!({ "action": "list" }));
        let mut told = Vec::new();
        for _ in 0..50 {
            told.extend(runtime.notices().into_iter().map(|notice| notice.job));
            std::thread::sleep(Duration::from_millis(10));
        }
        told.sort();
        told
    };

    let first = told();

    let mut both = started.to_vec();
    both.sort();
    assert_eq!(first, both);
    assert_eq!(told(), [] as [String; 0]);
}

#[test]
fn a_job_that_lost_its_keeper_is_ended_by_the_next_run() {
    let bench = Bench::new();
    let id;
    let pid;
    {
        let runtime = with_keeper(bench.builder());
        let session = runtime.session().id("s").open().unwrap();
        id = start(&session, &json!({ "command": "trap '' HUP; sleep 1000; sleep 1000" }));
        pid = process(&session, "poll", &id)["pid"].to_string();
        let record =
            fs::read_to_string(bench.dir.path().join("home/processes").join(&id).join("record.json"))
                .unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let keeper = record["keeper"]["pid"].to_string();
        call(&session, "terminal", &json!({ "command": format!("kill -9 {keeper}") }));
        until("the keeper is gone", || !runs(&keeper));
        assert!(runs(&pid));
    }

    let runtime = with_keeper(bench.builder());
    let session = runtime.session().id("s").open().unwrap();

    let poll = process(&session, "poll", &id);
    assert_eq!(poll["completion_reason"], "lost", "{poll}");
    until("it is ended", || !runs(&pid));
}

#[test]
fn a_job_without_a_keeper_of_its_own_goes_with_its_owner() {
    let bench = Bench::new();
    let pid;
    {
        let runtime = bench.builder().build().unwrap();
        let session = runtime.session().open().unwrap();
        let id = start(&session, &json!({ "command": "sleep 1000; sleep 1000" }));
        pid = process(&session, "poll", &id)["pid"].to_string();
        assert!(runs(&pid));
    }

    until("it is gone", || !runs(&pid));
}

#[test]
fn a_log_without_end_stays_bounded() {
    both(|bench, runtime| {
        let session = runtime.session().open().unwrap();
        let id = start(
            &session,
            &json!({ "command": "echo first; yes 0123456789012345678901234567890123456789 | head -c 100000000; echo last" }),
        );

        let waited = process(&session, "wait", &id);

        assert_eq!(waited["exit_code"], 0, "{waited}");
        assert!(waited["output"].as_str().unwrap().ends_with("last"));
        let folder = bench.dir.path().join("home/processes").join(&id);
        let size: u64 =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        assert!(size < 20_000_000, "{size}");
        let log =
            call(&session, "process", &json!({ "action": "log", "session_id": id, "offset": 0, "limit": 1 }));
        assert_eq!(log["output"], "first");
        assert!(log["dropped_lines"].as_u64().unwrap() > 1_000_000);
    });
}
