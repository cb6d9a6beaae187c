//! Every exit code; nobody is waited for who is not there.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use hermes_testkit::{Answer, ModelServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::stage::{Stage, config, finished, shell, until};

/// Asked about: nobody can see what it runs. Leaves a trace when it did run.
const RISKY: &str = "eval \"$PAYLOAD\"; touch ran";

/// Never allowed. The home is the test's own.
const NEVER: &str = "rm -rf ~";

#[test]
fn two_means_wrong_usage() {
    let stage = Stage::saying([]);
    for words in [
        &["-q", "x", "--no-such-flag"][..],
        &["-q", "x", "--toolsets", "no-such-toolset"],
        &["-q", "x", "--provider", "no-such-provider"],
        &["-q", "x", "--output-format", "xml"],
        &["-q", "x", "--max-turns", "0"],
        &["-q", "x", "--resume", "no-such-session"],
        &["-q", "x", "--continue"],
        &["-q", "x", "--image", "no-such-picture.png"],
        &["-q", "  "],
        &[],
    ] {
        let said = stage.chat(words);

        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}: {said:?}");
        assert!(said.err.starts_with("error: "), "{words:?}: {said:?}");
    }
    assert_eq!(stage.server.bodies().len(), 0, "no model was asked");
}

#[test]
fn three_means_that_what_it_needed_was_denied() {
    let stage = Stage::saying([shell("c1", RISKY), Answer::text("I may not do that.")]);

    let said = stage.chat(&["-q", "Run it", "--output-format", "json"]);

    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!((&said.json()["status"], &said.json()["denied"]), (&json!("denied"), &json!(1)));
    assert!(!stage.project().join("ran").exists());
}

#[test]
fn a_denied_call_is_shown_with_what_it_would_have_run() {
    let stage = Stage::saying([shell("c1", NEVER), Answer::text("I may not do that.")]);

    let said = stage.chat(&["-q", "Run it"]);

    let line = said.err.lines().find(|line| line.contains("[denied]")).unwrap_or_else(|| panic!("{said:?}"));
    assert!(line.contains(NEVER), "{line}");
}

#[test]
fn without_asking_all_runs_but_what_is_never_allowed() {
    let stage = Stage::saying([shell("c1", RISKY), shell("c2", NEVER), Answer::text("Done.")]);

    let said = stage.chat(&["-q", "Run it", "--yolo", "--output-format", "json"]);

    assert_eq!((said.code, &said.json()["denied"]), (Some(0), &json!(1)), "{said:?}");
    assert!(stage.project().join("ran").exists(), "{said:?}");
    assert!(stage.config().exists());
}

#[test]
fn four_means_that_no_model_could_answer() {
    let refusing = Stage::with(ModelServer::always(Answer::error(401, "no such key")));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let alone = Home::configured(&config(&format!("http://{nobody}/v1")));
    let began = Instant::now();

    let refused = refusing.chat(&["-q", "Hello?"]);
    let down = alone.run(&["chat", "-q", "Hello?"]);

    assert_eq!((refused.code, refused.out.as_str()), (Some(4), ""), "{refused:?}");
    assert!(refused.err.contains("no such key"), "{refused:?}");
    assert_eq!((down.code, down.out.as_str()), (Some(4), ""), "{down:?}");
    assert!(down.err.contains("error: "), "{down:?}");
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
}

#[test]
fn one_means_that_it_ran_out_of_turns() {
    let stage = Stage::with(ModelServer::deciding(|body| {
        let results = body["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").count();
        if body["tools"].is_null() {
            Answer::text("This is how far I came.")
        } else {
            shell(&format!("c{results}"), &format!("echo {results}"))
        }
    }));

    let said = stage.chat(&["-q", "Count for ever", "--max-turns", "3", "--output-format", "json"]);

    let told = said.json();
    assert_eq!((said.code, &told["status"]), (Some(1), &json!("out_of_budget")), "{said:?}");
    assert!((2..=3).contains(&told["tool_calls"].as_u64().unwrap()), "{told}");
    assert!(told["model_calls"].as_u64().unwrap() <= 4, "{told}");
}

#[test]
fn ctrl_c_in_a_tool_ends_soon_with_130_and_the_session_goes_on() {
    let stage = Stage::saying([shell("c1", "touch begun; sleep 60; touch over"), Answer::text("On we go.")]);
    let child = stage.start(&["-q", "Sleep", "--output-format", "json"]);
    until("the tool", || stage.project().join("begun").exists());
    let began = Instant::now();

    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let said = finished(child);

    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let told = said.json();
    assert_eq!(told["status"], "interrupted");
    let on = stage.chat(&["-q", "Go on", "-r", told["session"].as_str().unwrap()]);
    assert_eq!((on.code, on.out.as_str()), (Some(0), "On we go.\n"), "{on:?}");
    assert!(!stage.project().join("over").exists());
    let sent = stage.server.bodies()[1]["messages"].as_array().unwrap().clone();
    let answered: Vec<&Value> = sent.iter().filter_map(|one| one.get("tool_call_id")).collect();
    assert_eq!(answered, [&json!("c1")], "{sent:?}");
}

#[test]
fn ctrl_c_while_the_model_is_silent_ends_soon_too() {
    let stage = Stage::saying([Answer::text("one two three").stall_after(2)]);
    let child = stage.start(&["-q", "Hello?"]);
    assert!(stage.server.wait_for(2), "a look at the catalogue, then the question");
    let began = Instant::now();

    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();

    assert_eq!(finished(child).code, Some(130));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
