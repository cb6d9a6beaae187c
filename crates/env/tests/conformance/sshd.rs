//! A real ssh server on loopback, with keys of its own, in a folder that goes with it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::processes::until;

/// Where the server's program is; the usual search path of a user does not have it.
const PROGRAM: &str = "/usr/sbin/sshd";

/// A server that runs.
pub(crate) struct Server {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) port: u16,
    child: Child,
}

impl Server {
    /// Starts one; nothing when this machine has no server, which CI does not take for an answer.
    pub(crate) fn start() -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            assert!(std::env::var("CI").is_err(), "{PROGRAM} must be here in CI");
            eprintln!("NOT RUN: {PROGRAM} is not here, nothing was tried (see scripts/testbeds/ssh)");
            return None;
        }
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        make_key(&dir.path().join("host"));
        make_key(&dir.path().join("user"));
        fs::copy(dir.path().join("user.pub"), dir.path().join("authorized")).unwrap();
        // The port is free at this moment; nobody else on loopback takes one that was just given out.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = run(dir.path(), port);
        let server = Self { dir, port, child };
        server.know("host.pub");
        Some(server)
    }

    /// Starts it anew, with the same keys or others.
    pub(crate) fn restart(&mut self) {
        self.stop();
        self.child = run(self.dir.path(), self.port);
    }

    /// Ends it, with every connection it has.
    pub(crate) fn stop(&mut self) {
        let connections = self.connections();
        let _ = self.child.kill();
        self.child.wait().unwrap();
        for pid in connections {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    }

    /// The processes that serve its connections.
    pub(crate) fn connections(&self) -> Vec<String> {
        let own = self.child.id();
        let said = Command::new("ps").args(["-o", "pid=", "--ppid", &own.to_string()]).output().unwrap();
        String::from_utf8(said.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
    }

    /// Makes the key in that file the one the machine is known by.
    pub(crate) fn know(&self, key: &str) {
        let key = fs::read_to_string(self.path(key)).unwrap();
        fs::write(self.path("known"), format!("[127.0.0.1]:{} {key}", self.port)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Settings of an environment on it.
    pub(crate) fn section(&self, more: &Value) -> Value {
        let mut section = json!({
            "host": "127.0.0.1",
            "port": self.port,
            "user": user(),
            "key": self.path("user"),
            "known_hosts": self.path("known"),
            "config": "none",
        });
        section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        section
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes a pair of keys.
pub(crate) fn make_key(file: &Path) {
    let _ = fs::remove_file(file);
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
    assert!(made.unwrap().success());
}

/// Who runs the tests.
pub(crate) fn user() -> String {
    String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned()
}

fn run(dir: &Path, port: u16) -> Child {
    // Where the server gives up its rights; it refuses to start without.
    let _ = fs::create_dir_all("/run/sshd");
    // Start-up files of whoever runs the tests are not part of them.
    fs::create_dir_all(dir.join("home")).unwrap();
    let config = dir.join("config");
    let text = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {0}/host\nAuthorizedKeysFile {0}/authorized\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
         PidFile none\nMaxStartups 100\nSetEnv HOME={0}/home\n",
        dir.display()
    );
    fs::write(&config, text).unwrap();
    let child = Command::new(PROGRAM)
        .args(["-D", "-f"])
        .arg(&config)
        .arg("-E")
        .arg(dir.join("log"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    child
}
