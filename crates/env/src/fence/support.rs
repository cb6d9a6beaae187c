//! What this kernel can do for a fence. Only asks; nothing is confined by it.

#![expect(clippy::disallowed_methods, reason = "the kernel says what it can do in files of its own")]

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use super::apply;
use crate::probe::program_on_path;

/// What there is to build a fence from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Support {
    /// Version of Landlock; 0 when it is missing or switched off.
    pub landlock: u8,
    /// Whether calls can be filtered on this kernel and processor.
    pub seccomp: bool,
    /// Whether a process may have users and mounts of its own. Not used; told because it is asked for.
    pub user_namespaces: bool,
    /// Where bubblewrap is. Not used; told because it is asked for.
    pub bubblewrap: Option<PathBuf>,
}

impl Support {
    /// Looks at this machine; `path_var` is the value of `PATH`.
    pub fn of_this_machine(path_var: &OsStr) -> Self {
        Self {
            landlock: apply::landlock_abi(),
            seccomp: seccomp(),
            user_namespaces: user_namespaces(),
            bubblewrap: program_on_path("bwrap", path_var),
        }
    }

    /// Whether files can be fenced: reads, writes, and emptying without opening.
    pub fn files(&self) -> bool {
        self.landlock >= 3
    }

    /// Whether the network can be taken away.
    pub fn no_network(&self) -> bool {
        self.files() && self.seccomp
    }

    /// Whether signals can be kept inside.
    pub fn signals(&self) -> bool {
        self.landlock >= 6
    }
}

fn seccomp() -> bool {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    apply::filters_calls() && actions.split_whitespace().any(|action| action == "errno")
}

fn user_namespaces() -> bool {
    let number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let most = number("/proc/sys/user/max_user_namespaces").unwrap_or(0);
    let allowed = number("/proc/sys/kernel/unprivileged_userns_clone").unwrap_or(1);
    let hindered = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").unwrap_or(0);
    most > 0 && allowed > 0 && hindered == 0
}
