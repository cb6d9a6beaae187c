//! The actions of `hermes fence`, one file each, and what they share.

pub(crate) mod status;
pub(crate) mod test;

use std::ffi::OsStr;
use std::path::Path;

use hermes::env::fence::{Level, Support};
use serde_json::{Value, json};

use crate::shell::Shell;

/// This program, also when its file was replaced while it runs.
const LAUNCHER: &str = "/proc/self/exe";

/// What starts commands behind a fence.
pub(crate) fn launcher() -> &'static Path {
    Path::new(LAUNCHER)
}

/// What this machine has for a fence.
fn support(shell: &Shell) -> Support {
    Support::of_this_machine(OsStr::new(shell.variable("PATH").unwrap_or_default()))
}

/// A level, as a word on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AskedLevel {
    Workspace,
    Strict,
}

impl From<AskedLevel> for Level {
    fn from(asked: AskedLevel) -> Self {
        match asked {
            AskedLevel::Workspace => Self::Workspace,
            AskedLevel::Strict => Self::Strict,
        }
    }
}

/// What the kernel supports, for machines.
fn described(support: &Support) -> Value {
    json!({
        "landlock_abi": support.landlock,
        "seccomp": support.seccomp,
        "user_namespaces": support.user_namespaces,
        "bubblewrap": support.bubblewrap,
        "files": support.files(),
        "no_network": support.no_network(),
        "signals": support.signals(),
    })
}

/// What the kernel supports, in words.
fn in_words(support: &Support) -> Vec<(&'static str, bool, String)> {
    let landlock = match support.landlock {
        0 => "no Landlock".to_owned(),
        abi => format!("Landlock ABI {abi}"),
    };
    let seccomp = if support.seccomp { "seccomp" } else { "no seccomp" };
    vec![
        ("files", support.files(), format!("{landlock}; 3 or later is needed")),
        ("network", support.no_network(), format!("{landlock}, {seccomp}; both are needed to take it away")),
        ("signals", support.signals(), format!("{landlock}; 6 or later is needed")),
    ]
}
