//! The promises in instances of a real Apptainer, and what must hold when it lets us down.
//!
//! `scripts/testbeds/apptainer` says where it is. A machine that has none cannot run these tests; they
//! say so and hold nothing up, except where CI wants them run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use hermes_core::environment::{End, EnvError, Run, Why};
use hermes_core::jobs::JobState;
use hermes_env::backends::Surroundings;
use serde_json::{Value, json};

use crate::background::{Background, plain};
use crate::bench::{Bench, usual};
use crate::given::{self, Given};
use crate::processes::until;
use crate::{LONG, PROMISES, cost, tried};

/// Where the program is, and its image; nothing when it is not here.
fn testbed() -> Option<(String, String)> {
    let program = std::env::var("HERMES_TEST_APPTAINER").ok();
    let found = program.zip(std::env::var("HERMES_TEST_APPTAINER_IMAGE").ok());
    assert!(found.is_some() || std::env::var("CI").is_err(), "apptainer must be here in CI");
    if found.is_none() {
        eprintln!("NOT RUN: apptainer is not here: nothing was tried (see scripts/testbeds/apptainer)");
    }
    found
}

/// A place whose folder is the same inside.
fn bench(more: &Value) -> Option<Bench> {
    bench_with(more, Surroundings::default())
}

pub(crate) fn bench_with(more: &Value, around: Surroundings) -> Option<Bench> {
    let (program, image) = testbed()?;
    Some(Bench::far_with("singularity", around, |dir| {
        let mut section = json!({
            "image": image,
            "binary": program,
            "volumes": [format!("{0}:{0}", dir.display())],
            "scratch_dir": dir.join("scratch"),
            "persistent": false,
        });
        section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        section
    }))
}

#[test]
fn skills_and_credential_files_are_mounted_and_can_only_be_read() {
    let given = Given::new();
    // The home there is a folder of its own, not the one of this test.
    let Some(bench) = bench_with(&json!({ "volumes": [] }), given.around()) else { return };

    given::is_mounted(&bench, &given);
}

#[test]
fn what_cannot_be_mounted_is_sent() {
    let Some((program, _)) = testbed() else { return };
    let (given, dir) = (Given::new(), tempfile::tempdir().unwrap());
    let wrapper = dir.path().join("apptainer");
    // As it complains where it may not make the folder to mount on.
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *'/.hermes:ro'*) echo 'FATAL:   container creation failed: mount /x->/h/.hermes \
         error: destination /h/.hermes does not exist in container' >&2; exit 255 ;; esac\nexec {program} \"$@\"\n"
    );
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let mut bench = bench_with(&json!({ "binary": wrapper, "volumes": [] }), given.around()).unwrap();

    given::is_sent(&mut bench, &given);
}

/// The program with these words, as the person of the bench would run it.
fn told(bench: &Bench, words: &[&str]) -> String {
    let (program, _) = testbed().unwrap();
    let said = Command::new(program).args(words).env("HOME", bench.work()).output().unwrap();
    String::from_utf8(said.stdout).unwrap()
}

/// Names of the instances of a bench.
pub(crate) fn instances(bench: &Bench) -> Vec<String> {
    let all: Value = serde_json::from_str(&told(bench, &["instance", "list", "--json"])).unwrap();
    let all = all.get("instances").and_then(Value::as_array).cloned().unwrap_or_default();
    all.iter().filter_map(|running| Some(running.get("instance")?.as_str()?.to_owned())).collect()
}

/// Stops the instance of a place behind its back.
fn stop(bench: &Bench) {
    for name in instances(bench) {
        told(bench, &["instance", "stop", "-F", &name]);
    }
}

#[test]
fn an_instance_keeps_every_promise() {
    for (name, promise) in tried(LONG) {
        let Some(bench) = bench(&json!({})) else { return };
        eprintln!("apptainer: {name}");
        promise(&bench);
    }
}

/// Tells the test below that it is the one without rights.
const WITHOUT: &str = "HERMES_TEST_WITHOUT_RIGHTS";

/// What is tried without rights: running, stopping, keeping and the background.
const TRIED: [&str; 8] = [
    "the_code_of_a_command_is_reported",
    "input_is_read_to_its_end",
    "a_timeout_kills_the_whole_tree",
    "a_cancelled_command_is_gone_in_time",
    "an_abandoned_command_is_gone_in_time",
    "variables_functions_and_aliases_stay_as_documented",
    "a_terminal_is_one_and_can_be_resized",
    "a_job_goes_on_after_the_call_and_is_written_to_and_read",
];

/// Clusters give users no rights: a folder as image, no limits, no overlay but the kernel's own.
#[test]
fn an_instance_keeps_its_promises_for_a_user_without_rights() {
    if std::env::var(WITHOUT).is_ok() {
        for (name, promise) in PROMISES.iter().filter(|(name, _)| TRIED.contains(name)) {
            eprintln!("apptainer without rights: {name}");
            promise(&bench(&json!({})).unwrap());
        }
        let bench = bench(&json!({ "persistent": true })).unwrap();
        let ran = bench.run("id -u; echo kept > /workspace/f");
        assert_eq!(ran.output.head, b"65534\n");
        assert!(ran.notes.iter().any(|note| note.contains("cannot be limited")), "{:?}", ran.notes);
        return;
    }
    let (Some((program, _)), Ok(folder)) = (testbed(), std::env::var("HERMES_TEST_APPTAINER_FOLDER")) else {
        return;
    };
    if !rustix::process::geteuid().is_root() {
        // Then every other test here is this one.
        return;
    }
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let (image, own, temp) = (dir.path().join("image"), dir.path().join("own"), dir.path().join("tmp"));
    fs::create_dir(&temp).unwrap();
    let copied = Command::new("cp").arg("-a").arg(folder).arg(&image).status();
    assert!(copied.unwrap().success());
    fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(dir.path()).status();
    assert!(given.unwrap().success());

    let done = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&own)
        .args([
            "--exact",
            "apptainer::an_instance_keeps_its_promises_for_a_user_without_rights",
            "--nocapture",
        ])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", dir.path())
        .env("TMPDIR", &temp)
        .env(WITHOUT, "1")
        .env("HERMES_TEST_APPTAINER", program)
        .env("HERMES_TEST_APPTAINER_IMAGE", &image)
        .current_dir(dir.path())
        .output()
        .unwrap();

    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn an_instance_made_from_a_folder_sees_nothing_of_this_machine_that_it_is_not_given() {
    let Ok(folder) = std::env::var("HERMES_TEST_APPTAINER_FOLDER") else { return };
    let more = json!({ "image": folder, "env": { "GIVEN": "yes" } });
    let Some(bench) = bench(&more) else { return };
    fs::write(bench.work().join("here"), "x").unwrap();
    let secret = tempfile::NamedTempFile::new().unwrap();

    let said = bench.run(&format!("cat here; ls {} 2>/dev/null | wc -l; echo $GIVEN; echo \"[$OPENROUTER_API_KEY]\"; ls /proc | grep -c '^[0-9]'", secret.path().display()));

    let said = String::from_utf8(said.output.head).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.get(..3), Some(["x0", "yes", "[]"].as_slice()), "{said}");
    assert!(lines.get(3).unwrap().parse::<u32>().unwrap() < 30, "{said}");
}

#[test]
fn what_is_written_stays_when_the_instance_was_stopped() {
    let Some(mut bench) = bench(&json!({ "persistent": true })) else { return };
    bench.run("echo kept > ~/f; echo kept > /workspace/f; mkdir -p /srv/x; echo kept > /srv/x/f");

    bench.come_back();

    let said = bench.run("cat ~/f /workspace/f /srv/x/f").output.head;
    assert_eq!(String::from_utf8(said).unwrap(), "kept\nkept\nkept\n");
}

#[test]
fn a_job_is_found_again_in_an_instance_that_stays_and_goes_with_one_that_does_not() {
    for stays in [true, false] {
        let Some(mut bench) = bench(&json!({ "persist_across_processes": stays })) else { return };
        let job = Background(&bench).start("echo on; echo $$ > pid; sleep 1000", plain());
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
fn an_instance_that_is_stopped_under_us_is_started_anew_by_the_next_call() {
    let Some(bench) = bench(&json!({})) else { return };
    let shell = bench.run("export A=1").shell;
    stop(&bench);

    let ran = bench.run_with("echo \"[$A]\"", Run { shell, ..usual() });

    assert_eq!(ran.output.head, b"[]\n");
    assert!(ran.notes.iter().any(|note| note.contains("made anew")), "{:?}", ran.notes);
}

#[test]
fn an_instance_that_is_stopped_while_a_command_runs_is_a_clear_error_and_nothing_runs_twice() {
    let Some(bench) = bench(&json!({})) else { return };
    bench.run("true");
    let permit = bench.permit("echo so far; echo once >> ran; sleep 100");

    let wrong = std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, usual())));
        until("it runs", || fs::read(bench.work().join("ran")).is_ok_and(|text| !text.is_empty()));
        stop(&bench);
        running.join().unwrap()
    });

    // Whoever stops an instance ends its programs one by one, so that it may even be seen how they end.
    match wrong {
        Err(EnvError::CutOff { output, .. }) => assert_eq!(output.head, b"so far\n"),
        Ok(ran) => assert!(matches!(ran.why, Why::Ended(End::Signal(_))), "{:?}", ran.why),
        Err(wrong) => panic!("{wrong}"),
    }
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

/// A small disk that goes with the value; nothing where we may not mount.
struct Small(tempfile::TempDir);

impl Small {
    fn mount(options: &str) -> Option<Self> {
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(dir.path()).status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("NOT RUN: a small disk cannot be mounted here");
            return None;
        }
        Some(Self(dir))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(self.0.path()).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_under_an_instance_loses_nothing_but_what_was_being_written() {
    let Some(small) = Small::mount("size=8m") else { return };
    let more = json!({ "persistent": true, "scratch_dir": small.0.path() });
    let Some(mut bench) = bench(&more) else { return };
    let shell = bench.run("export A=1; echo kept > /workspace/f; mkdir /srv/x; echo kept > /srv/x/f").shell;

    // The overlay, the home, `/workspace` and `/tmp` with what is ours in there are all on that disk.
    let full = bench.run_with("head -c 50000000 /dev/zero > /srv/fill", Run { shell, ..usual() });
    assert!(String::from_utf8_lossy(&full.output.head).contains("No space left"), "{:?}", full.output);
    let next = bench.run_with("echo $A; exit 3", Run { shell: full.shell, ..usual() });
    assert_eq!((next.why, next.output.head.as_slice()), (Why::Ended(End::Code(3)), b"1\n".as_slice()));
    let freed = bench.run_with("rm /srv/fill; export B=2", Run { shell: next.shell, ..usual() });

    assert_eq!(bench.output("echo $A$B; cat /workspace/f /srv/x/f", &freed.shell), "12\nkept\nkept\n");
    bench.come_back();
    assert_eq!(bench.run("cat /workspace/f /srv/x/f").output.head, b"kept\nkept\n");
    drop(bench);
}

#[test]
fn an_instance_that_cannot_be_started_on_a_full_disk_is_a_clear_error_until_there_is_room() {
    let Some(small) = Small::mount("size=8m,nr_inodes=4") else { return };
    let more = json!({ "persistent": true, "scratch_dir": small.0.path() });
    let Some(bench) = bench(&more) else { return };

    let wrong =
        bench.runtime.block_on(bench.place.run(bench.permit("true"), usual())).unwrap_err().to_string();

    assert!(wrong.contains("No space left") && wrong.contains("`scratch_dir`"), "{wrong}");
    assert_eq!(instances(&bench), Vec::<String>::new());
    small.remount("nr_inodes=1000");
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
    drop(bench);
}

#[test]
fn much_that_lies_on_the_disk_is_said_once_and_before_it_is_full() {
    let Some(mut bench) = bench(&json!({ "persistent": true, "disk_warning_gb": 0.001 })) else { return };
    let says = |notes: &[String]| notes.iter().any(|note| note.contains("takes more than 0.001 GB"));

    let first = bench.run("head -c 2000000 /dev/urandom > /workspace/f; sync /workspace/f");
    assert!(!says(&first.notes), "{:?}", first.notes);
    bench.come_back();
    let second = bench.run("true");
    assert!(says(&second.notes), "{:?}", second.notes);
    let third = bench.run_with("true", Run { shell: second.shell, ..usual() });
    assert!(!says(&third.notes), "{:?}", third.notes);
    drop(bench);
}

#[test]
fn an_image_that_is_not_there_is_named() {
    for image in ["/no/such/image.sif", "docker://no-such-image.invalid/x:1"] {
        let Some(bench) = bench(&json!({ "image": image })) else { return };

        let wrong = bench.runtime.block_on(bench.place.run(bench.permit("true"), usual())).unwrap_err();

        assert!(wrong.to_string().contains(image), "{wrong}");
    }
}

#[test]
fn a_place_that_closes_leaves_no_instance_and_no_folder() {
    let Some(bench) = bench(&json!({})) else { return };
    bench.run("true");
    let scratch = bench.work().join("scratch");
    assert_eq!(instances(&bench).len(), 1);

    bench.runtime.block_on(bench.place.close(false)).unwrap();

    assert_eq!(instances(&bench), Vec::<String>::new());
    let left: Vec<_> = fs::read_dir(scratch).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["images"]);
}

#[test]
fn what_a_run_that_is_gone_has_left_is_stopped_by_the_next_and_nothing_else_is() {
    let Some(bench) = bench(&json!({})) else { return };
    let (_, image) = testbed().unwrap();
    bench.run("true");
    let own = instances(&bench).remove(0);
    let left = format!("{}_4000000.1", own.rsplit_once('_').unwrap().0);
    for name in [left.as_str(), "somebodys"] {
        told(&bench, &["instance", "start", &image, name]);
    }
    assert_eq!(instances(&bench).len(), 3);

    let next = bench.beside(&json!({}));
    bench.runtime.block_on(next.run(bench.permit("true"), usual())).unwrap();

    let running = instances(&bench);
    told(&bench, &["instance", "stop", "somebodys"]);
    assert!(running.contains(&own) && running.contains(&"somebodys".to_owned()), "{running:?}");
    assert!(!running.contains(&left), "{running:?}");
}

#[test]
fn a_program_that_is_not_there_is_a_clear_error() {
    let bench = Bench::far(
        "singularity",
        |dir| json!({ "binary": "/no/such/apptainer", "scratch_dir": dir.join("s") }),
    );

    let wrong = bench.runtime.block_on(bench.place.run(bench.permit("true"), usual()));

    assert!(wrong.unwrap_err().to_string().contains("/no/such/apptainer"));
}

#[test]
fn a_call_costs_no_more_than_the_bare_program() {
    let Some(bench) = bench(&json!({})) else { return };
    let (program, _) = testbed().unwrap();

    cost::no_more_than("apptainer", &bench, || {
        let instance = format!("instance://{}", instances(&bench).first().unwrap());
        let (home, program) = (bench.work(), program.clone());
        move || {
            let mut bare = Command::new(&program);
            let said = bare.args(["exec", "--cleanenv", &instance, "true"]).env("HOME", &home).output();
            assert!(said.unwrap().status.success());
        }
    });
}
