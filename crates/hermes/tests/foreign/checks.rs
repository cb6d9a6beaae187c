//! Checks that hang, take long or end the process: each costs its own tool, and nobody waits long for it.

use std::time::{Duration, Instant};

use hermes::Runtime;
use hermes_testkit::TempHome;

use crate::{LONG, file_with, runtime};

/// A tool file whose tool has this check.
fn checked(tool: &str, check: &str) -> String {
    file_with(tool, &format!("def check():\n    {check}\n"))
        .replace("'mine', ", "'mine', check_fn=check, schema=")
        .replace("}, lambda args", "}, handler=lambda args")
}

/// What a session is offered once these are known, and why the others are not there.
fn offered(runtime: &Runtime, tools: &[&str]) -> (String, Vec<(String, String)>) {
    for tool in tools {
        runtime.wait_for_tool(tool);
    }
    let toolbox = runtime.session().open().unwrap().toolbox_blocking();
    let why = toolbox.unavailable().iter().filter(|it| tools.contains(&&*it.name));
    (toolbox.json().to_string(), why.map(|it| (it.name.to_string(), it.why.to_string())).collect())
}

#[test]
fn a_check_that_ends_the_process_costs_its_own_tool() {
    let home = TempHome::new();
    home.write("home/tools/deadly.py", &checked("deadly", "os._exit(3)"));
    for name in ["one", "two", "three"] {
        home.write(&format!("home/tools/{name}.py"), &checked(name, "time.sleep(0.2); return True"));
    }
    let runtime = runtime(&home, LONG);

    let (json, why) = offered(&runtime, &["deadly", "one", "two", "three"]);

    assert!(["one", "two", "three"].iter().all(|name| json.contains(&format!("\"{name}\""))), "{json}");
    assert_eq!((why.len(), why[0].0.as_str()), (1, "deadly"), "{why:?}");
    assert!(why[0].1.contains("it ends the process"), "{why:?}");
}

#[test]
fn a_check_that_hangs_is_waited_for_once() {
    let home = TempHome::new();
    home.write("home/tools/stuck.py", &checked("stuck", "time.sleep(100)"));
    let why = || offered(&runtime(&home, LONG), &["stuck"]).1[0].1.clone();
    assert!(why().contains("its check does not answer"));
    let began = Instant::now();

    let second = why();

    assert!(second.contains("did not answer a while ago"), "{second}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn a_check_that_takes_longer_than_it_may_keeps_its_own_tool_out() {
    let home = TempHome::new();
    home.write("home/tools/slow.py", &checked("slow", "time.sleep(4); return True"));
    home.write("home/tools/quick.py", &checked("quick", "return True"));

    let (json, why) = offered(&runtime(&home, LONG), &["slow", "quick"]);

    let told = "its check does not answer; it may take 2 s, and is asked again later";
    assert_eq!(why, [("slow".to_owned(), told.to_owned())]);
    assert!(json.contains("\"quick\"") && !json.contains("\"slow\""), "{json}");
}

#[test]
fn checks_of_one_process_run_side_by_side() {
    let home = TempHome::new();
    let names: Vec<String> = (0..12).map(|n| format!("tool{n}")).collect();
    for name in &names {
        home.write(&format!("home/tools/{name}.py"), &checked(name, "time.sleep(0.5); return True"));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();

    // One after the other they would take longer than anybody waits.
    let (_, why) = offered(&runtime(&home, LONG), &names);

    assert_eq!(why, []);
}
