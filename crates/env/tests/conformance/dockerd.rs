//! A container engine of a test's own, which can be killed and started again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An engine that runs, with the smallest of images in it.
pub(crate) struct Daemon {
    dir: tempfile::TempDir,
    child: Child,
}

impl Daemon {
    /// Starts one; nothing where the testbed has none.
    pub(crate) fn start() -> Option<Self> {
        let image = std::env::var("HERMES_TEST_DOCKER_PLAIN_IMAGE").ok()?;
        let client = std::env::var("HERMES_TEST_DOCKER").ok()?;
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let wrapper = dir.path().join("docker");
        let socket = dir.path().join("sock");
        fs::write(&wrapper, format!("#!/bin/sh\nexec {client} -H unix://{} \"$@\"\n", socket.display()))
            .unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        let daemon = Self { child: run(dir.path()), dir };
        daemon.wait();
        let mut save = Command::new(client).args(["save", &image]).stdout(Stdio::piped()).spawn().unwrap();
        let mut load = daemon.client();
        let loaded = load.arg("load").stdin(save.stdout.take().unwrap()).stdout(Stdio::null()).status();
        assert!(loaded.unwrap().success() && save.wait().unwrap().success());
        Some(daemon)
    }

    /// Everything of it.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// The client that talks to it.
    pub(crate) fn binary(&self) -> PathBuf {
        self.dir.path().join("docker")
    }

    fn client(&self) -> Command {
        Command::new(self.binary())
    }

    /// Kills it without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let helper = fs::read_to_string(self.dir.path().join("exec/containerd/containerd.pid"));
        if let Ok(pid) = helper {
            let _ = Command::new("kill").args(["-9", pid.trim()]).stderr(Stdio::null()).status();
        }
    }

    /// Starts it again.
    pub(crate) fn again(&mut self) {
        // What was killed could not tidy up after itself.
        for left in ["pid", "sock", "exec/containerd/containerd.pid", "exec/containerd/containerd.sock"] {
            let _ = fs::remove_file(self.dir.path().join(left));
        }
        self.child = run(self.dir.path());
        self.wait();
    }

    fn wait(&self) {
        let begin = Instant::now();
        while !self.client().arg("version").output().unwrap().status.success() {
            assert!(begin.elapsed() < Duration::from_mins(2), "the engine does not come up");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
        // Mounts keep its folder from being removed.
        for mount in ["exec/netns/*", "data"] {
            let line = format!("umount {}/{mount}", self.dir.path().display());
            let _ = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status();
        }
    }
}

fn run(dir: &Path) -> Child {
    let below = |name: &str| dir.join(name);
    let log = fs::File::create(below("log")).unwrap();
    // In a network of its own: an engine without a bridge removes the one that another engine uses.
    Command::new("unshare")
        .args(["-n", "dockerd", "--bridge=none", "--iptables=false", "--storage-driver=vfs"])
        .arg("--data-root")
        .arg(below("data"))
        .arg("--exec-root")
        .arg(below("exec"))
        .arg("-p")
        .arg(below("pid"))
        .arg("-H")
        .arg(format!("unix://{}", below("sock").display()))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}
