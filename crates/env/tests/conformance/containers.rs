//! The promises in containers of real engines, and what must hold when an engine lets us down.
//!
//! `scripts/testbeds/docker` and `scripts/testbeds/podman` say where engines are. A machine that has
//! none cannot run these tests; they say so and hold nothing up, except where CI wants them run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use hermes_core::environment::{End, EnvError, Run, Why};
use hermes_core::jobs::JobState;
use hermes_env::backends::Surroundings;
use serde_json::{Value, json};

use crate::background::{Background, plain};
use crate::bench::{Bench, usual};
use crate::dockerd::Daemon;
use crate::given::{self, Given};
use crate::processes::until;
use crate::{LONG, cost, tried};

/// The engines that the same file speaks to.
pub(crate) const ENGINES: [&str; 2] = ["docker", "podman"];

/// The image with bash that tests use, and the engine's client; nothing when there is no engine here.
pub(crate) fn engine(name: &str) -> Option<(String, String)> {
    let upper = name.to_uppercase();
    let image = std::env::var(format!("HERMES_TEST_{upper}_IMAGE")).ok();
    let client = std::env::var(format!("HERMES_TEST_{upper}")).ok();
    let found = image.zip(client);
    assert!(found.is_some() || std::env::var("CI").is_err(), "{name} must be here in CI");
    if found.is_none() {
        eprintln!("NOT RUN: {name} is not here: nothing was tried (see scripts/testbeds/{name})");
    }
    found
}

/// The image without bash.
pub(crate) fn plain_image(name: &str) -> Option<String> {
    std::env::var(format!("HERMES_TEST_{}_PLAIN_IMAGE", name.to_uppercase())).ok()
}

/// A place whose processes have the numbers they have outside, and whose folder is the same.
pub(crate) fn bench(backend: &str, more: &Value) -> Option<Bench> {
    bench_with(backend, more, Surroundings::default())
}

pub(crate) fn bench_with(backend: &str, more: &Value, around: Surroundings) -> Option<Bench> {
    let (image, client) = engine(backend)?;
    Some(Bench::far_with(backend, around, |dir| {
        let dir = dir.display();
        let mut section = json!({
            "image": image,
            "binary": client,
            "volumes": [format!("{dir}:{dir}")],
            "extra_args": ["--pid", "host"],
            "persist_across_processes": false,
            "persistent": false,
            "pids": 0,
        });
        section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        section
    }))
}

fn kept(backend: &str) {
    for (name, promise) in tried(LONG) {
        let Some(bench) = bench(backend, &json!({})) else { return };
        eprintln!("{backend}: {name}");
        promise(&bench);
    }
}

#[test]
fn a_docker_container_keeps_every_promise() {
    kept("docker");
}

#[test]
fn a_podman_container_keeps_every_promise() {
    kept("podman");
}

/// The engine's client with these words.
pub(crate) fn told(client: &str, words: &[&str]) -> String {
    let said = Command::new(client).args(words).output().unwrap();
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

pub(crate) fn ours(client: &str) -> String {
    let label = format!("label=hermes-owner=test{}", std::process::id());
    told(client, &["ps", "-aq", "--filter", &label])
}

#[test]
fn skills_and_credential_files_are_mounted_and_can_only_be_read() {
    for engine in ENGINES {
        let given = Given::new();
        let Some(bench) = bench_with(engine, &json!({}), given.around()) else { continue };

        given::is_mounted(&bench, &given);
    }
}

/// A client whose engine sees other files than we do, as when both are containers themselves.
fn elsewhere(dir: &Path, client: &str) -> String {
    let (wrapper, other) = (dir.join("docker"), dir.join("other"));
    fs::create_dir(&other).unwrap();
    let text = format!(
        "#!/bin/bash\nwords=()\nfor word; do\n  case $word in *target=/root/.hermes,readonly) \
         word=type=bind,source={},target=/root/.hermes,readonly ;; esac\n  \
         words+=(\"$word\")\ndone\nexec {client} \"${{words[@]}}\"\n",
        other.display()
    );
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    wrapper.display().to_string()
}

#[test]
fn an_engine_that_sees_other_files_than_ours_is_sent_copies() {
    for name in ENGINES {
        let Some((_, client)) = engine(name) else { continue };
        let (given, dir) = (Given::new(), tempfile::tempdir().unwrap());
        let more = json!({ "binary": elsewhere(dir.path(), &client) });
        let mut bench = bench_with(name, &more, given.around()).unwrap();

        let first = bench.run("cat ~/.hermes/skills/one/SKILL.md");

        assert_eq!(first.output.head, b"first");
        assert!(first.notes.iter().any(|note| note.contains("are copied")), "{:?}", first.notes);
        given::is_sent(&mut bench, &given);
    }
}

#[test]
fn a_container_that_is_removed_under_us_is_made_anew_by_the_next_call() {
    for name in ENGINES {
        let Some(bench) = bench(name, &json!({})) else { continue };
        let (_, client) = engine(name).unwrap();
        let shell = bench.run("export A=1").shell;
        told(&client, &["rm", "-f", &ours(&client)]);

        let ran = bench.run_with("echo \"[$A]\"", Run { shell, ..usual() });

        assert_eq!(ran.output.head, b"[]\n");
        assert!(ran.notes.iter().any(|note| note.contains("made anew")), "{:?}", ran.notes);
    }
}

#[test]
fn a_container_that_is_removed_while_a_command_runs_is_a_clear_error_and_nothing_runs_twice() {
    for name in ENGINES {
        removed_while_a_command_runs(name);
    }
}

fn removed_while_a_command_runs(name: &str) {
    let Some(bench) = bench(name, &json!({ "extra_args": [] })) else { return };
    let (_, client) = engine(name).unwrap();
    bench.run("true");
    let permit = bench.permit("echo so far; sleep 0.3; echo once >> ran; sleep 100");

    let wrong = std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, usual())));
        until("it runs", || fs::read(bench.work().join("ran")).is_ok_and(|text| !text.is_empty()));
        told(&client, &["rm", "-f", &ours(&client)]);
        running.join().unwrap().unwrap_err()
    });

    let so_far = match &wrong {
        EnvError::CutOff { output, .. } => Some(output.head.as_slice()),
        _ => None,
    };
    assert_eq!(so_far, Some(b"so far\n".as_slice()), "{wrong}");
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

#[test]
fn an_image_that_is_not_there_is_named_and_leaves_nothing_behind() {
    for name in ENGINES {
        let Some(bench) = bench(name, &json!({ "image": "no-such-image.invalid/x:1" })) else { continue };
        let (_, client) = engine(name).unwrap();
        let permit = bench.permit("true");

        let wrong = bench.runtime.block_on(bench.place.run(permit, usual())).unwrap_err().to_string();

        assert!(wrong.contains("no-such-image.invalid/x:1"), "{wrong}");
        assert_eq!(ours(&client), "");
    }
}

#[test]
fn a_full_disk_in_there_loses_nothing_but_what_was_being_written() {
    for name in ENGINES {
        let small = json!({ "extra_args": ["--pid", "host", "--tmpfs", "/small:size=1m"] });
        let Some(bench) = bench(name, &small) else { continue };
        let shell = bench.run("export A=1").shell;

        let full = bench.run_with("head -c 5000000 /dev/zero > /small/x", Run { shell, ..usual() });

        assert!(String::from_utf8_lossy(&full.output.head).contains("No space left"));
        assert_eq!(bench.output("echo $A", &full.shell), "1\n");
    }
}

#[test]
fn a_disk_that_is_full_under_our_own_folder_there_is_no_reason_to_lie_about_commands() {
    for name in ENGINES {
        let Some(bench) = bench(name, &json!({})) else { continue };
        let shell = bench.run("export A=1").shell;

        let full = bench.run_with("head -c 600000000 /dev/zero > /tmp/fill", Run { shell, ..usual() });
        assert!(String::from_utf8_lossy(&full.output.head).contains("No space left"));
        let next = bench.run_with("echo $A; exit 3", Run { shell: full.shell, ..usual() });
        assert_eq!((next.why, next.output.head.as_slice()), (Why::Ended(End::Code(3)), b"1\n".as_slice()));
        let freed = bench.run_with("rm /tmp/fill; export B=2", Run { shell: next.shell, ..usual() });

        assert_eq!(bench.output("echo $A$B", &freed.shell), "12\n");
    }
}

#[test]
fn a_client_that_is_not_there_is_a_clear_error() {
    let bench = Bench::far("docker", |_| json!({ "binary": "/no/such/client" }));

    let wrong = bench.runtime.block_on(bench.place.run(bench.permit("true"), usual()));

    assert!(wrong.unwrap_err().to_string().contains("/no/such/client"));
}

#[test]
fn a_place_that_closes_leaves_no_container() {
    for name in ENGINES {
        let Some(bench) = bench(name, &json!({})) else { continue };
        let (_, client) = engine(name).unwrap();
        bench.run("true");
        assert_ne!(ours(&client), "");

        drop(bench);

        assert_eq!(ours(&client), "");
    }
}

#[test]
fn what_was_left_is_swept_by_whoever_can_tell_that_its_maker_is_gone() {
    for name in ENGINES {
        left_is_swept(name);
    }
}

fn left_is_swept(name: &str) {
    let (Some(bench), Some(plain)) = (bench(name, &json!({})), plain_image(name)) else { return };
    let (_, client) = engine(name).unwrap();
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let made = |machine: &str| {
        let labels = [
            "hermes-agent=1".to_owned(),
            format!("hermes-owner=test{}", std::process::id()),
            "hermes-stays=0".to_owned(),
            "hermes-made-by=4000000.1".to_owned(),
            format!("hermes-machine={machine}"),
        ];
        let words: Vec<&str> = labels.iter().flat_map(|label| ["--label", label]).collect();
        told(&client, &[&["create"], words.as_slice(), &[&plain, "sh"]].concat())
    };
    // Of this machine, of a container that is gone, of a machine whose processes we do not see.
    let (dead, gone, foreign) = (made(&own), made("0123456789ab"), made("elsewhere"));

    bench.run("true");

    let left = told(&client, &["ps", "-aq", "--no-trunc"]);
    assert!(!left.contains(&dead) && !left.contains(&gone) && left.contains(&foreign), "{left}");
    told(&client, &["rm", "-f", &foreign]);
}

#[test]
fn without_bash_variables_and_directory_stay() {
    for name in ENGINES {
        let Some(plain) = plain_image(name) else { continue };
        without_bash(&bench(name, &json!({ "image": plain })).unwrap());
    }
}

fn without_bash(bench: &Bench) {
    let ran = bench.run("export A='x y'; cd /tmp");

    assert_eq!(ran.cwd, Some("/tmp".into()));
    let permit = bench.permit_in("echo \"$A\"; pwd", Path::new("/tmp"));
    let run = Run { shell: ran.shell, ..usual() };
    let next = bench.runtime.block_on(bench.place.run(permit, run)).unwrap();
    assert_eq!(next.output.head, b"x y\n/tmp\n");
}

#[test]
fn a_call_in_docker_costs_no_more_than_the_bare_client() {
    costs_no_more("docker");
}

#[test]
fn a_call_in_podman_costs_no_more_than_the_bare_client() {
    costs_no_more("podman");
}

fn costs_no_more(name: &str) {
    let given = Given::new();
    let Some(bench) = bench_with(name, &json!({}), given.around()) else { return };
    let (_, client) = engine(name).unwrap();

    cost::no_more_than(name, &bench, || {
        let id = ours(&client);
        let client = client.clone();
        move || assert!(Command::new(&client).args(["exec", &id, "true"]).status().unwrap().success())
    });
}

#[test]
fn a_job_is_found_again_in_a_container_that_stays_and_goes_with_one_that_does_not() {
    for (name, stays) in ENGINES.iter().flat_map(|name| [(name, true), (name, false)]) {
        let more = json!({ "persist_across_processes": stays, "extra_args": [] });
        let Some(mut bench) = bench(name, &more) else { continue };
        let job = Background(&bench).start("echo on; sleep 1000", plain());
        until("it runs", || Background(&bench).tail(&job.id) == "on\n");

        bench.come_back();

        if stays {
            assert_eq!(Background(&bench).look(&job.id).state, JobState::Running);
            assert_eq!(Background(&bench).tail(&job.id), "on\n");
            bench.runtime.block_on(bench.place.close(true)).unwrap();
        } else {
            let gone = bench.runtime.block_on(bench.place.jobs().unwrap().look("s", &job.id));
            assert_eq!(gone.unwrap_err(), EnvError::NoJob(job.id));
        }
    }
}

#[test]
fn a_job_whose_container_is_removed_under_us_is_lost_and_said_to_be() {
    for name in ENGINES {
        let Some(bench) = bench(name, &json!({ "extra_args": [] })) else { continue };
        let (_, client) = engine(name).unwrap();
        let job = Background(&bench).start("sleep 1000", plain());

        told(&client, &["rm", "-f", &ours(&client)]);

        assert_eq!(Background(&bench).look(&job.id).state, JobState::Lost);
        assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
    }
}

#[test]
fn an_engine_that_is_killed_and_started_again_is_used_again_and_nothing_runs_twice() {
    let Some(mut daemon) = Daemon::start() else { return };
    let image = std::env::var("HERMES_TEST_DOCKER_PLAIN_IMAGE").unwrap();
    let binary = daemon.binary();
    let more = json!({ "image": image, "binary": binary, "extra_args": [], "network": false });
    let Some(bench) = bench("docker", &more) else { return };
    bench.run("true");
    let permit = bench.permit("echo so far; echo once >> ran; sleep 100");

    let wrong = std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, usual())));
        until("it runs", || fs::read(bench.work().join("ran")).is_ok_and(|text| !text.is_empty()));
        std::thread::sleep(std::time::Duration::from_millis(300));
        daemon.kill();
        running.join().unwrap().unwrap_err()
    });

    let EnvError::CutOff { output, .. } = wrong else { panic!("{wrong}") };
    assert_eq!(output.head, b"so far\n");
    let gone = bench.runtime.block_on(bench.place.run(bench.permit("true"), usual())).unwrap_err();
    assert!(gone.to_string().contains("start the engine"), "{gone}");
    daemon.again();
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    drop(bench);
}
