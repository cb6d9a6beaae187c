//! What a container is, seen from inside: how little it can do, how little it has, and what outlives it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use hermes_env::backends::Surroundings;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::containers::{ENGINES, bench_with, engine, ours, plain_image, told};
use crate::dockerd::Daemon;

/// Prints a limit of the control group, whichever kind of them there is.
const LIMITS: &str = "cd /sys/fs/cgroup; \
    cat memory/memory.limit_in_bytes 2>/dev/null || cat memory.max; cat pids/pids.max 2>/dev/null || cat pids.max; \
    set -- $(cat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us 2>/dev/null || cat cpu.max); echo $(($1 * 100 / $2))";

fn said(bench: &Bench, text: &str) -> String {
    String::from_utf8_lossy(&bench.run(text).output.head).into_owned()
}

#[test]
fn a_container_can_do_and_has_no_more_than_it_was_given() {
    for name in ENGINES {
        let only_read = tempfile::tempdir().unwrap();
        let more = json!({ "extra_args": [], "pids": 100, "cpu": 0.5, "memory": 128, "network": false });
        let Some(bench) = bench_volumes(name, more, only_read.path()) else { continue };

        // Files, signals and changing users: 0, 1, 3, 5, 6 and 7.
        let status = said(&bench, "grep -E '^(CapBnd|CapEff|NoNewPrivs)' /proc/self/status | tr -d '\\t'");
        assert_eq!(status, "CapEff:00000000000000eb\nCapBnd:00000000000000eb\nNoNewPrivs:1\n", "{name}");
        assert_eq!(said(&bench, LIMITS), "134217728\n100\n50\n", "{name}");
        assert_eq!(said(&bench, "ls /sys/class/net | grep -c -E 'eth|tap'"), "0\n", "{name}");
        let temp = said(&bench, "grep ' /tmp ' /proc/mounts");
        assert!(temp.contains("nosuid") && temp.contains("size=524288k"), "{name}: {temp}");
        let refused = said(&bench, "touch /only/x; touch x && ls x");
        assert!(refused.contains("Read-only") && refused.ends_with("x\n"), "{name}: {refused}");
    }
}

fn bench_volumes(name: &str, mut more: Value, only_read: &Path) -> Option<Bench> {
    let (image, client) = engine(name)?;
    more.as_object_mut().unwrap().extend(
        json!({ "image": image, "binary": client, "persistent": false, "persist_across_processes": false })
            .as_object()
            .unwrap()
            .clone(),
    );
    Some(Bench::far(name, |dir| {
        let both = json!([format!("{0}:{0}", dir.display()), format!("{}:/only:ro", only_read.display())]);
        more.as_object_mut().unwrap().insert("volumes".to_owned(), both);
        more
    }))
}

#[test]
fn what_is_written_to_the_home_and_the_workspace_outlives_the_container() {
    for name in ENGINES {
        let sandbox = tempfile::tempdir().unwrap();
        let around = Surroundings { sandbox: Some(sandbox.path().into()), ..Surroundings::default() };
        let more = json!({ "persistent": true, "extra_args": [] });
        let Some(bench) = bench_with(name, &more, around) else { continue };
        bench.run("echo kept > ~/f; echo kept > /workspace/f; echo gone > /srv/f");
        let (_, client) = engine(name).unwrap();

        told(&client, &["rm", "-f", &ours(&client)]);

        assert_eq!(said(&bench, "cat ~/f /workspace/f /srv/f 2>/dev/null"), "kept\nkept\n", "{name}");
        let kept = sandbox.path().join(name).join("far/workspace/f");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept\n");
        bench.runtime.block_on(bench.place.close(true)).unwrap();
        assert!(!kept.exists(), "{name}");
    }
}

#[test]
fn what_variables_hold_reaches_a_container_and_no_list_of_processes() {
    for name in ENGINES {
        let Some((image, client)) = engine(name) else { continue };
        let dir = tempfile::tempdir().unwrap();
        let (wrapper, log) = (dir.path().join(name), dir.path().join("log"));
        let text = format!("#!/bin/sh\necho \"$@\" >>{}\nexec {client} \"$@\"\n", log.display());
        fs::write(&wrapper, text).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let section = json!({
            "image": image, "binary": wrapper, "persist_across_processes": false, "network": false,
            "forward_env": ["TOKEN"], "env": { "OTHER": "0ther one" },
        });
        let bench = Bench::given(
            name,
            &[("TOKEN", "s3cret")],
            section,
            &dir.path().join("kept"),
            Surroundings::default(),
        );

        let permit = bench.permit_in("echo \"$TOKEN $OTHER\"", Path::new("/"));
        let ran = bench.runtime.block_on(bench.place.run(permit, crate::bench::usual())).unwrap();

        assert_eq!(ran.output.head, b"s3cret 0ther one\n", "{name}");
        let words = fs::read_to_string(log).unwrap();
        assert!(
            words.contains("-e TOKEN") && !words.contains("s3cret") && !words.contains("0ther"),
            "{words}"
        );
        bench.runtime.block_on(bench.place.close(true)).unwrap();
    }
}

/// Tells the test below that it is the one of the person.
const PERSON: &str = "HERMES_TEST_PERSON";

#[test]
fn what_a_container_writes_is_the_persons_where_that_is_asked_for() {
    let name = "inside::what_a_container_writes_is_the_persons_where_that_is_asked_for";
    if std::env::var(PERSON).is_ok() {
        return writes_as_the_person();
    }
    let (Some(plain), true) = (plain_image("docker"), rustix::process::geteuid().is_root()) else { return };
    let Some(daemon) = Daemon::start() else { return };
    // An engine that anybody may use, for somebody who is not root.
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(daemon.folder(), 0o755);
    open(&daemon.folder().join("sock"), 0o666);
    let own = daemon.folder().join("own");
    fs::create_dir(&own).unwrap();
    fs::copy(std::env::current_exe().unwrap(), own.join("test")).unwrap();
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(&own).status();
    assert!(given.unwrap().success());

    let done = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(own.join("test"))
        .args(["--exact", name, "--nocapture"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", &own)
        .env("TMPDIR", &own)
        .env(PERSON, "1")
        .env("HERMES_TEST_DOCKER", daemon.binary())
        .env("HERMES_TEST_DOCKER_IMAGE", plain)
        .current_dir(&own)
        .output()
        .unwrap();

    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn writes_as_the_person() {
    let sandbox = tempfile::tempdir().unwrap();
    for persistent in [false, true] {
        let around = Surroundings { sandbox: Some(sandbox.path().into()), ..Surroundings::default() };
        let more =
            json!({ "run_as_host_user": true, "extra_args": [], "persistent": persistent, "network": false });
        let bench = bench_with("docker", &more, around).unwrap();

        assert_eq!(said(&bench, "id -u; id -g; echo x > made; echo x > ~/f && cat ~/f"), "65534\n65534\nx\n");

        assert_eq!(fs::metadata(bench.work().join("made")).unwrap().uid(), 65534);
        assert_eq!(said(&bench, "echo x > /workspace/f && cat /workspace/f"), "x\n");
        bench.runtime.block_on(bench.place.close(true)).unwrap();
    }
}
