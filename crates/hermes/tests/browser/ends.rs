//! A browser ends with its session, when nobody uses it, and however we end; nothing of it is left.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hermes::{Session, ToolCall};
use serde_json::{Value, json};

use crate::server::{Seat, Server, chromium, html_type};

/// Tells a test that it is to open a browser for another, on this port and in this folder.
const CHILD: &str = "HERMES_TEST_BROWSER_CHILD";

/// Processes that have this folder in their words, by number, and whether they are guardians.
fn processes(folder: &Path) -> Vec<(u32, bool)> {
    let holds = |words: &[u8], part: &[u8]| words.windows(part.len()).any(|it| it == part);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter_map(|process| {
        let words = std::fs::read(process.path().join("cmdline")).ok()?;
        let number = process.file_name().to_str()?.parse().ok()?;
        let ours = holds(&words, folder.as_os_str().as_encoded_bytes());
        ours.then(|| (number, holds(&words, b"hermes-guardian")))
    });
    ours.collect()
}

/// How many of them are browsers.
fn running(folder: &Path) -> usize {
    processes(folder).iter().filter(|(_, guards)| !guards).count()
}

/// Those that look after the folder.
fn guardians(folder: &Path) -> Vec<u32> {
    processes(folder).into_iter().filter_map(|(number, guards)| guards.then_some(number)).collect()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn it_ends_with_its_session_and_its_profile_goes() {
    let server = Server::pages(&[("/", "<title>One</title>")]);
    let Some(seat) = Seat::at(&[&server]) else { return };
    seat.open(&server.url("/"));
    let tmp = seat.folder.path().join("tmp");
    assert!(running(&tmp) > 0 && !is_empty(&tmp));
    let other = seat.runtime.session().open().unwrap();
    let alone = ToolCall::new("browser_snapshot", "{}");
    assert!(other.call_blocking(alone).body.contains("no page is open"), "sessions do not share a browser");

    let Seat { session, runtime, folder } = seat;
    drop((session, other));

    within(Duration::from_secs(10), "no browser runs", || running(&tmp) == 0);
    drop(runtime);
    within(Duration::from_secs(10), "no profile is left", || is_empty(&tmp));
    drop(folder);
}

#[test]
fn sessions_know_nothing_of_each_other_and_a_later_one_nothing_of_them() {
    let html = "<script>document.title = 'saw ' + document.cookie + (localStorage.kept || '') + '.';\
                document.cookie = 'kept=1'; localStorage.kept = '2'</script>";
    let server = Server::with(move |_| (200, html_type(), html.to_owned()));
    let Some(seat) = Seat::at(&[&server]) else { return };
    let saw = |session: &Session| {
        let arguments = json!({ "url": server.url("/") }).to_string();
        let outcome = session.call_blocking(ToolCall::new("browser_navigate", arguments));
        let body: Value = serde_json::from_str(&outcome.body).unwrap();
        body["data"]["title"].clone()
    };
    let another = || seat.runtime.session().open().unwrap();

    assert_eq!((saw(&seat.session), saw(&seat.session)), (json!("saw ."), json!("saw kept=12.")));
    let second = another();
    assert_eq!(saw(&second), "saw .");
    assert_eq!(saw(&seat.session), "saw kept=12.");
    drop(second);
    assert_eq!(saw(&another()), "saw .");
}

#[test]
fn it_ends_when_nobody_uses_it_and_says_so() {
    let server = Server::pages(&[("/", "<title>One</title>")]);
    let Some(seat) = Seat::set_up(&[&server], "  inactivity_timeout: 6\n") else { return };
    seat.open(&server.url("/"));
    let tmp = seat.folder.path().join("tmp");

    within(Duration::from_secs(30), "no browser runs", || running(&tmp) == 0);

    let answer = seat.call("browser_snapshot", json!({}));
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("6 s without use") && error.contains(&server.url("/")), "{error}");
    assert_eq!(seat.open(&server.url("/"))["title"], "One");
}

#[test]
fn a_browser_that_cannot_start_says_why() {
    if chromium().is_none() {
        return;
    }
    let server = Server::pages(&[]);
    let seat = Seat::set_up(&[&server], "").unwrap();
    let program = seat.folder.path().join("broken");
    std::fs::write(&program, "#!/bin/sh\necho 'no display today' >&2\nexit 7\n").unwrap();
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    seat.runtime.set_env("BROWSER_PATH", program.to_str());

    let answer = seat.call("browser_navigate", json!({ "url": server.url("/") }));

    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("exit code 7") && error.contains("no display today"), "{error}");
}

/// Another process of ours with an open page, whose browser keeps its things in this folder.
fn another(server: &Server, folder: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ends::a_browser_for_another_test", "--nocapture"])
        .env(CHILD, format!("{} {}", server.port, folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.any(|line| line.contains("the page is open")));
    assert!(running(folder) > 0 && !is_empty(folder));
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn nothing_is_left_when_we_are_killed() {
    if chromium().is_none() {
        return;
    }
    let server = Server::pages(&[("/", "<title>One</title>")]);
    let folder = tempfile::tempdir().unwrap();

    kill(another(&server, folder.path()));

    within(Duration::from_secs(15), "no browser runs", || running(folder.path()) == 0);
    within(Duration::from_secs(15), "no guardian runs", || guardians(folder.path()).is_empty());
    assert!(is_empty(folder.path()), "{:?}", std::fs::read_dir(folder.path()).unwrap().collect::<Vec<_>>());
}

#[test]
fn what_is_left_when_the_guardian_is_killed_too_goes_with_the_next_start() {
    if chromium().is_none() {
        return;
    }
    let server = Server::pages(&[("/", "<title>One</title>")]);
    let folder = tempfile::tempdir().unwrap();
    let child = another(&server, folder.path());
    let guardians = guardians(folder.path());
    assert!(!guardians.is_empty());
    for guardian in guardians {
        Command::new("kill").args(["-KILL", &guardian.to_string()]).status().unwrap();
    }

    kill(child);

    within(Duration::from_secs(30), "no browser runs: its line is closed", || running(folder.path()) == 0);
    let left: Vec<PathBuf> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let seat = Seat::at(&[&server]).unwrap();
    seat.runtime.set_env("TMPDIR", folder.path().to_str());
    seat.open(&server.url("/"));
    assert!(!left[0].exists(), "the next start has removed it");
    assert!(!is_empty(folder.path()), "and uses a folder of its own");
}

/// Opens a browser and stays, when another test asks for it.
#[test]
fn a_browser_for_another_test() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (port, folder) = told.split_once(' ').unwrap();
    let server = Server::pages(&[]);
    let seat = Seat::at(&[&server]).unwrap();
    let config = format!("browser:\n  allow_private_urls: [\"127.0.0.1:{port}\"]\n");
    std::fs::write(seat.folder.path().join("home/config.yaml"), config).unwrap();
    seat.runtime.refresh().unwrap();
    seat.runtime.set_env("TMPDIR", Some(folder));
    seat.open(&format!("http://127.0.0.1:{port}/"));
    println!("the page is open");
    std::thread::sleep(Duration::from_mins(1));
}
