//! A small world: a workspace, an outside, a home with credentials.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes::env::fence::{Fence, Ground, Level};
use tempfile::TempDir;

pub(crate) const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

pub(crate) struct Yard(TempDir);

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Yard {
    pub(crate) fn new() -> Self {
        let yard = Self(TempDir::new().unwrap());
        for folder in ["ws/sub", "out", "temp", "home/.ssh", "home/.config/gh", "home/docs"] {
            fs::create_dir_all(yard.at(folder)).unwrap();
        }
        for file in ["ws/file", "out/file", "home/.ssh/id", "home/.ssh/config", "home/docs/a", "home/plain"] {
            fs::write(yard.at(file), file).unwrap();
        }
        yard
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn ground(&self) -> Ground {
        Ground {
            workspace: self.at("ws"),
            temp: vec![self.at("temp")],
            unreadable: vec![self.at("home/.ssh"), self.at("home/.aws")],
            readable: vec![self.at("home/.ssh/config")],
            ..Ground::default()
        }
    }

    pub(crate) fn fence(&self, level: Level) -> Fence {
        Fence::new(level, HERMES, &self.ground()).unwrap()
    }

    /// Runs a script in the workspace, behind this fence; `$Y` is the yard.
    pub(crate) fn behind(&self, fence: &Fence, script: &str) -> Said {
        said(self.prepared(fence, &[], script))
    }

    /// Runs a script at this level.
    pub(crate) fn run(&self, level: Level, script: &str) -> Said {
        self.behind(&self.fence(level), script)
    }

    /// The command; `through` stands before the launcher.
    pub(crate) fn prepared(&self, fence: &Fence, through: &[&str], script: &str) -> Command {
        let words = ["bash", "--norc", "-c", script, "the-name"].map(OsString::from);
        let wrapped = fence.wrap(Path::new("/bin/bash"), words);
        let mut arguments = wrapped.arguments.into_iter();
        let name = arguments.next().unwrap();
        let mut command = match through {
            [] => Command::new(&wrapped.program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&wrapped.program);
                command
            }
        };
        if through.is_empty() {
            command.arg0(name);
        }
        command.args(arguments).current_dir(self.at("ws")).env("Y", self.at("")).env("LC_ALL", "C");
        command
    }

    /// Lets everybody in, with a copy of the program that everybody can run.
    pub(crate) fn open_to_all(&self) -> PathBuf {
        let all = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        all(&self.at(""));
        for path in ["ws", "ws/sub", "out", "temp", "home", "home/.ssh", "out/file", "home/.ssh/id"] {
            all(&self.at(path));
        }
        fs::copy(HERMES, self.at("hermes")).unwrap();
        self.at("hermes")
    }
}

pub(crate) fn said(mut command: Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
}

/// Insists that each script fails because it is not permitted.
#[track_caller]
pub(crate) fn refused(yard: &Yard, level: Level, scripts: &[&str]) {
    for script in scripts {
        let said = yard.run(level, script);
        assert_ne!(said.code, Some(0), "{script}: {said:?}");
        let denied = [
            "Permission denied",
            "permission denied",
            "Operation not permitted",
            "cross-device",
            "Cross-device",
        ];
        assert!(denied.iter().any(|word| said.err.contains(word)), "{script}: {said:?}");
    }
}

/// Insists that each script works.
#[track_caller]
pub(crate) fn works(yard: &Yard, level: Level, scripts: &[&str]) {
    for script in scripts {
        let said = yard.run(level, script);
        assert_eq!(said.code, Some(0), "{script}: {said:?}");
    }
}
