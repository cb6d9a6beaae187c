//! What the tools say when a place lets us down, and that nothing is lost.

use std::path::Path;
use std::process::Command;

use hermes::Session;
use serde_json::json;

use crate::doubles::Double;
use crate::sshd::Server;
use crate::support::{Bench, Engine, call, fresh, instance, output};

/// A file on a disk that is too small for what is to be written keeps what it holds.
fn a_full_disk_loses_nothing(session: &Session, small: &str) {
    let path = format!("{small}/x.txt");
    assert_eq!(call(session, "write_file", &json!({ "path": path, "content": "old\n" }))["bytes_written"], 4);

    let wrong = call(session, "write_file", &json!({ "path": path, "content": "new\n".repeat(1_000_000) }));

    assert!(wrong["error"].as_str().unwrap_or_default().contains("No space left"), "{wrong}");
    assert_eq!(output(session, &format!("cat {path}; ls -A {small}")), "old\nx.txt");
    let patched = call(session, "patch", &json!({ "path": path, "old_string": "old", "new_string": "2" }));
    assert_eq!(patched["success"], true, "{patched}");
}

#[test]
fn a_full_disk_in_a_container_loses_nothing() {
    for engine in Engine::all() {
        let name = fresh("full");
        let section = engine.section(&json!({ "extra_args": ["--tmpfs", "/small:size=1m"] }));
        let bench = Bench::new(&json!({ "environments": { &name: section } }));
        let session = bench.runtime().session().environment(&name).open().unwrap();

        a_full_disk_loses_nothing(&session, "/small");
    }
}

/// A small disk that goes with the value.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    /// Nothing where we may not mount.
    fn mount(folder: &'a Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder).status();
        let mounted = mounted.is_ok_and(|status| status.success());
        assert!(mounted || std::env::var("HERMES_TEST_FULL").is_err(), "a small disk must be had");
        if !mounted {
            eprintln!("NOT RUN: a small disk cannot be mounted here");
        }
        mounted.then_some(Self(folder))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_on_another_machine_loses_nothing() {
    let Some(server) = Server::start() else { return };
    let folder = server.path("small");
    let Some(_small) = Small::mount(&folder) else { return };
    let section = server.section(&json!({ "backend": "ssh" }));
    let bench = Bench::new(&json!({ "environments": { "lab": section } }));
    let session = bench.runtime().session().environment("lab").open().unwrap();

    a_full_disk_loses_nothing(&session, folder.to_str().unwrap());
}

#[test]
fn a_full_disk_under_an_instance_loses_nothing() {
    let Some(section) = instance() else { return };
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let folder = dir.path().join("small");
    let Some(_small) = Small::mount(&folder) else { return };
    let mut section = section;
    section["volumes"] = json!([format!("{}:/small", folder.display())]);
    section["scratch_dir"] = json!(dir.path().join("scratch"));
    let bench = Bench::new(&json!({ "environments": { "box": section } }));
    let session = bench.runtime().session().environment("box").open().unwrap();

    a_full_disk_loses_nothing(&session, "/small");
}

#[test]
fn a_full_disk_in_a_sandbox_of_a_vendor_loses_nothing() {
    for (vendor, api) in [("daytona", "/api"), ("modal", ""), ("vercel_sandbox", "/api")] {
        let Some(double) = Double::start(vendor) else { return };
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        // The double makes small disks in the same way.
        if Small::mount(&dir.path().join("small")).is_none() {
            return;
        }
        double.told(&json!({ "disk": 2 }));
        let url = format!("http://127.0.0.1:{}{api}", double.port);
        let section = json!({ "backend": vendor, "api_url": url, "persistent": false, "cwd": "~" });
        let bench = Bench::new(&json!({ "environments": { "far": section } }));
        let session = bench.runtime().session().environment("far").open().unwrap();
        let folder = output(&session, "mkdir ~/small; cd ~/small; pwd");

        a_full_disk_loses_nothing(&session, &folder);
    }
}

#[test]
fn a_machine_that_is_gone_is_a_clear_error_of_every_tool_and_is_used_again_when_it_is_back() {
    let Some(mut server) = Server::start() else { return };
    let section = server.section(&json!({ "backend": "ssh" }));
    let bench = Bench::new(&json!({ "environments": { "lab": section } }));
    let session = bench.runtime().session().environment("lab").open().unwrap();
    let path = server.path("home/x").display().to_string();
    output(&session, "export A=1");
    server.stop();

    for (tool, arguments) in [
        ("terminal", json!({ "command": "true" })),
        ("terminal", json!({ "command": "true", "background": true })),
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("search_files", json!({ "pattern": "x", "path": path })),
        ("execute_code", json!({ "code": "print(1)" })),
    ] {
        let wrong = call(&session, tool, &arguments).to_string();
        assert!(wrong.contains("Connection refused") && wrong.contains("lab"), "{tool}: {wrong}");
    }

    server.restart();
    assert_eq!(output(&session, "echo $A"), "1");
}
