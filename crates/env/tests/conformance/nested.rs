//! A program that is in a container itself, and talks to the engine outside of it: the engine knows files
//! by other paths than the program does, or does not see them.
//!
//! The test starts itself again in a container that has the engine's socket, its client and one folder of
//! this machine, and does there what any program would.

use std::fs;
use std::path::Path;
use std::process::Command;

use hermes_core::environment::Ran;
use hermes_env::backends::Surroundings;
use serde_json::{Value, json};

use crate::bench::{Bench, usual};
use crate::given::Given;

/// Tells the test that it is the one inside.
const INSIDE: &str = "HERMES_TEST_NESTED";

/// The folder that both see, as it is called inside.
const SHARED: &str = "/nested";

/// A folder that only the container has.
const OWN: &str = "/own";

fn section(more: &Value) -> Value {
    let given = |name: &str| std::env::var(name).unwrap();
    let mut section = json!({
        "image": given("HERMES_TEST_DOCKER_IMAGE"), "binary": given("HERMES_TEST_DOCKER"),
        "persist_across_processes": false, "network": false,
    });
    section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    section
}

/// A place of a program whose home and work are below this folder.
fn bench(folder: &str, given: &Given, more: &Value) -> Bench {
    let work = Path::new(folder).join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join("here"), "mine\n").unwrap();
    let around = Surroundings { cwd: Some(work), ..given.around() };
    Bench::given("docker", &[], section(more), &Path::new(folder).join("sandboxes"), around)
}

#[test]
fn a_program_in_a_container_shares_its_files_with_the_containers_it_makes() {
    if std::env::var(INSIDE).is_ok() {
        what_both_see_is_mounted();
        what_the_engine_does_not_see_is_copied_and_kept_in_volumes();
        return;
    }
    let given = |name: &str| std::env::var(format!("HERMES_TEST_DOCKER{name}")).ok();
    let (Some(client), Some(image), Ok(engine)) = (given(""), given("_IMAGE"), std::env::var("DOCKER_HOST"))
    else {
        assert!(std::env::var("CI").is_err(), "docker must be here in CI");
        eprintln!("NOT RUN: docker is not here (see scripts/testbeds/docker)");
        return;
    };
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    fs::create_dir(dir.path().join("tmp")).unwrap();
    let socket = engine.strip_prefix("unix://").unwrap();
    let own = std::env::current_exe().unwrap();
    let inside = |words: &[&str]| {
        let mut run = Command::new(&client);
        run.args(["run", "--rm", "--network", "none"]);
        for (from, to) in [(dir.path().to_str().unwrap(), SHARED), (socket, "/docker.sock")] {
            run.args(["-v", &format!("{from}:{to}")]);
        }
        for (from, to) in [(client.as_str(), "/usr/bin/docker"), (own.to_str().unwrap(), "/test")] {
            run.args(["-v", &format!("{from}:{to}:ro")]);
        }
        let variables = [
            (INSIDE, "1"),
            ("DOCKER_HOST", "unix:///docker.sock"),
            ("TMPDIR", "/nested/tmp"),
            ("HERMES_TEST_DOCKER", "/usr/bin/docker"),
            ("HERMES_TEST_DOCKER_IMAGE", &image),
        ];
        for (name, value) in variables {
            run.args(["-e", &format!("{name}={value}")]);
        }
        let done = run.arg(&image).args(words).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (runs, said) = inside(&["/test", "--list"]);
    if !runs && said.contains("GLIBC") {
        eprintln!("NOT RUN: what is built here does not run in {image}: {said}");
        return;
    }

    let name = "nested::a_program_in_a_container_shares_its_files_with_the_containers_it_makes";
    let (well, said) = inside(&["/test", "--exact", name, "--nocapture"]);

    assert!(well, "{said}");
    // What was written in there is in the folder, which is called otherwise here.
    assert_eq!(fs::read_to_string(dir.path().join("work/made")).unwrap(), "there\n");
}

fn what_both_see_is_mounted() {
    let given = Given::new();
    let bench = bench(SHARED, &given, &json!({ "mount_cwd": true }));

    let text =
        "cat ~/.hermes/skills/one/SKILL.md /workspace/here; echo there > /workspace/made; echo kept > ~/f";
    let ran = run(&bench, text);

    assert_eq!(String::from_utf8_lossy(&ran.output.head), "firstmine\n");
    assert_eq!(ran.notes, Vec::<String>::new());
    let kept = Path::new(SHARED).join("sandboxes/docker/far/home/f");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept\n");
    bench.runtime.block_on(bench.place.close(true)).unwrap();
    assert!(!kept.exists());
}

fn what_the_engine_does_not_see_is_copied_and_kept_in_volumes() {
    let given = Given::in_folder(Path::new(OWN));
    let mut bench = bench(OWN, &given, &json!({}));

    let ran = run(&bench, "cat ~/.hermes/skills/one/SKILL.md; echo kept > ~/f; echo kept > /workspace/f");

    assert_eq!(String::from_utf8_lossy(&ran.output.head), "first");
    assert!(ran.notes.iter().any(|note| note.contains("volumes of the engine")), "{:?}", ran.notes);
    bench.come_back();
    assert_eq!(run(&bench, "cat ~/f /workspace/f").output.head, b"kept\nkept\n");
    assert_eq!(volumes().len(), 2);
    bench.runtime.block_on(bench.place.close(true)).unwrap();
    assert_eq!(volumes(), Vec::<String>::new());

    let asked = self::bench(OWN, &given, &json!({ "mount_cwd": true }));
    let wrong =
        asked.runtime.block_on(asked.place.run(asked.permit("true"), usual())).unwrap_err().to_string();
    assert!(wrong.contains("/own/work") && wrong.contains("`engine_paths`"), "{wrong}");
}

/// Runs something in a directory that every container has.
fn run(bench: &Bench, text: &str) -> Ran {
    let permit = bench.permit_in(text, Path::new("/"));
    bench.runtime.block_on(bench.place.run(permit, usual())).unwrap()
}

/// The volumes of this run.
fn volumes() -> Vec<String> {
    let label = format!("label=hermes-owner=test{}", std::process::id());
    let said = Command::new("docker").args(["volume", "ls", "-q", "--filter", &label]).output().unwrap();
    String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect()
}
