//! `hermes env` on real places: a server on loopback, a container engine, a vendor's double.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::doubles::Double;
use crate::home::{HERMES, Home, Said};
use crate::sshd::Server;

/// A user with these environments.
fn user(environments: &Value) -> Home {
    Home::configured(&json!({ "terminal": { "environments": environments } }).to_string())
}

fn with(mut section: Value, more: &Value) -> Value {
    section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    section
}

fn ssh(server: &Server) -> Value {
    server.section(&json!({ "backend": "ssh" }))
}

/// A container; nothing when that engine is not here, which CI does not take for an answer.
fn container(engine: &str, more: &Value) -> Option<Value> {
    let given = |name: &str| std::env::var(format!("HERMES_TEST_{}{name}", engine.to_uppercase())).ok();
    let Some((client, image)) = given("").zip(given("_IMAGE")) else { return not_here(engine) };
    let section = json!({ "backend": engine, "image": image, "binary": client, "network": false });
    Some(with(section, more))
}

/// An instance that keeps nothing.
fn instance(scratch: &Path) -> Option<Value> {
    let given = |name: &str| std::env::var(format!("HERMES_TEST_APPTAINER{name}")).ok();
    let Some((program, image)) = given("").zip(given("_IMAGE")) else { return not_here("apptainer") };
    let section = json!({ "backend": "singularity", "image": image, "binary": program, "persistent": false });
    Some(with(section, &json!({ "scratch_dir": scratch })))
}

#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn not_here(what: &str) -> Option<Value> {
    assert!(std::env::var_os("CI").is_none(), "{what} must be here in CI");
    eprintln!("NOT RUN: {what} is not here, nothing was tried (see scripts/testbeds/{what})");
    None
}

/// One place of every kind that is here, which all go with whoever made them, and what they need to be there.
fn every_kind(server: &Server, scratch: &Path) -> (serde_json::Map<String, Value>, Vec<Double>) {
    let (mut places, mut doubles) = (serde_json::Map::new(), Vec::new());
    places.insert("lab".to_owned(), ssh(server));
    let gone = json!({ "persistent": false, "persist_across_processes": false });
    let here = ["docker", "podman"].map(|engine| (engine, container(engine, &gone)));
    let here = here.into_iter().chain([("cluster", instance(scratch))]);
    places.extend(here.filter_map(|(name, section)| Some((name.to_owned(), section?))));
    // No program of this machine leads into a vendor's sandbox: it is talked to.
    for (vendor, api) in [("daytona", "/api"), ("modal", ""), ("vercel_sandbox", "/api")] {
        let Some(double) = Double::start(vendor) else { continue };
        let url = format!("http://127.0.0.1:{}{api}", double.port);
        let section = json!({ "backend": vendor, "api_url": url, "persistent": false, "cwd": "~" });
        places.insert(vendor.to_owned(), section);
        doubles.push(double);
    }
    (places, doubles)
}

/// The keys that doubles of vendors take.
const KEYS: [(&str, &str); 6] = [
    ("DAYTONA_API_KEY", "right"),
    ("MODAL_TOKEN_ID", "right"),
    ("MODAL_TOKEN_SECRET", "right"),
    ("VERCEL_TOKEN", "right"),
    ("VERCEL_TEAM_ID", "team"),
    ("VERCEL_PROJECT_ID", "project"),
];

/// Runs the program with the variables that engines and vendors are found by.
fn run(home: &Home, words: &[&str]) -> Said {
    let mut command = home.command(words);
    for name in ["DOCKER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"] {
        command.envs(std::env::var(name).ok().map(|value| (name, value)));
    }
    Said::of(command.envs(KEYS).output().unwrap())
}

/// The same in a terminal, with this typed.
fn typed(home: &Home, words: &[&str], keys: &str) -> (String, Option<i32>) {
    let line = format!("{HERMES} {}", words.join(" "));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(home.project()).env("HOME", home.path());
    command.env_remove("HERMES_HOME").env("TERM", "xterm").envs(KEYS);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&done.stdout).into_owned(), done.status.code())
}

#[test]
fn a_list_says_what_is_configured_and_what_is_wrong_with_it() {
    let home = user(&json!({
        "box": { "backend": "docker", "image": "debian:12" },
        "lab": { "backend": "ssh", "host": "lab.example.org", "user": "ann" },
        "odd": { "backend": "docker", "imge": "x" },
    }));

    let all = home.json(&["env", "list"]);

    let row = |name: &str| all.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&row("local")["default"], &row("local")["disposable"]), (&json!(true), &json!(false)));
    assert_eq!((&row("box")["backend"], &row("box")["disposable"]), (&json!("docker"), &json!(true)));
    assert_eq!(row("lab")["location"], "ann@lab.example.org");
    assert!(row("odd")["error"].as_str().unwrap().contains("imge"), "{}", row("odd"));
    let words = home.say(&["env", "list"]);
    assert!(words.contains("only what leaves it") && words.contains("asked as on this machine"), "{words}");
}

#[test]
fn a_place_that_works_is_tried_and_one_that_does_not_fails_with_its_reason() {
    let Some(server) = Server::start() else { return };
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let (mut environments, _doubles) = every_kind(&server, scratch.path());
    environments.insert("gone".to_owned(), with(ssh(&server), &json!({ "port": 1 })));
    let home = user(&json!(environments));

    for name in environments.keys().filter(|name| *name != "gone") {
        let said = run(&home, &["env", "test", name]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.out.starts_with(&format!("{name} works: Linux")), "{said:?}");
        let told = run(&home, &["env", "test", name, "--json"]).json();
        assert_eq!((&told["ok"], &told["error"]), (&json!(true), &Value::Null), "{told}");
    }
    let said = run(&home, &["env", "test", "gone"]);
    assert!(said.code == Some(1) && said.err.contains("Connection refused"), "{said:?}");
    let told = run(&home, &["env", "test", "gone", "--json"]);
    assert_eq!((told.code, &told.json()["ok"]), (Some(1), &json!(false)));
    assert_eq!(run(&home, &["env", "test", "nothing"]).code, Some(2));
}

#[test]
fn a_checkup_tries_every_place() {
    let Some(server) = Server::start() else { return };
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let (mut environments, _doubles) = every_kind(&server, scratch.path());
    environments.insert("gone".to_owned(), with(ssh(&server), &json!({ "port": 1 })));
    let home = user(&json!(environments));

    let said = run(&home, &["doctor", "--json"]);

    let text = said.json().to_string();
    for name in environments.keys().filter(|name| *name != "gone") {
        assert!(text.contains(&format!("environment {name} works: Linux")), "{name}: {text}");
    }
    assert!(text.contains("environment gone does not work"), "{text}");
}

#[test]
fn a_person_gets_a_shell_in_every_kind_of_place() {
    let Some(server) = Server::start() else { return };
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let (environments, _doubles) = every_kind(&server, scratch.path());
    let home = user(&json!(environments));

    for name in environments.keys() {
        let (shown, code) = typed(&home, &["env", "shell", name], "echo in-$((20 + 1))-there\nexit 5\n");
        assert!(shown.contains("in-21-there"), "{name}: {shown}");
        assert_eq!(code, Some(5), "{name}: {shown}");
    }
    assert_eq!(run(&home, &["env", "shell", "nothing"]).code, Some(2));
    let said = run(&home, &["env", "shell", "lab", "--json"]);
    assert!(said.code == Some(2) && said.err.contains("hermes env test lab --json"), "{said:?}");
}

#[test]
fn what_a_place_has_left_is_removed_one_by_one_or_all_at_once() {
    for engine in ["docker", "podman"] {
        removed(engine);
    }
}

fn removed(engine: &str) {
    let Some(section) = container(engine, &json!({})) else { return };
    let client = section["binary"].as_str().unwrap().to_owned();
    let names = [1, 2].map(|number| format!("clean{number}-{}", std::process::id()));
    let home = user(&json!({ (names[0].as_str()): section, (names[1].as_str()): section }));
    let containers = |name: &str| {
        let label = format!("label=hermes-task-id={name}");
        let said = Command::new(&client).args(["ps", "-aq", "--filter", &label]).output().unwrap();
        String::from_utf8(said.stdout).unwrap().lines().count()
    };
    let kept = |name: &str| home.state().join("sandboxes").join(engine).join(name).exists();
    for name in &names {
        assert_eq!(run(&home, &["env", "test", name]).code, Some(0));
        assert!(containers(name) == 1 && kept(name));
    }

    let one = run(&home, &["env", "clean", &names[0], "--json"]);
    assert_eq!(one.json(), json!([{ "name": names[0], "clean": true, "error": null }]), "{one:?}");
    assert!(containers(&names[0]) == 0 && !kept(&names[0]));
    assert!(containers(&names[1]) == 1 && kept(&names[1]));

    let all = run(&home, &["env", "clean"]);
    assert!(
        all.code == Some(0) && all.out.contains(&format!("{}: nothing of it is left", names[1])),
        "{all:?}"
    );
    assert!(containers(&names[1]) == 0 && !kept(&names[1]));
}
