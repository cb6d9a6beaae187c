//! What a command would do, as values: the words that rules, grants and people share.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::place::Place;

/// A stretch of the judged text, in bytes, end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// The kinds of effect. The name in `snake_case` is what users write in their own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Removes files or folders.
    Delete,
    /// Writes, appends to, moves onto or empties a file.
    Write,
    /// Formats, partitions or overwrites a disk, or reads one raw.
    Device,
    /// Changes who may read, write or run something.
    Permissions,
    /// Changes who owns something.
    Ownership,
    /// Stops, disables, masks or restarts a service.
    Service,
    /// Switches the machine off or restarts it.
    Power,
    /// Signals processes.
    Kill,
    /// Runs text that came from the network.
    RunDownloaded,
    /// Runs text that was decoded or unpacked first.
    RunDecoded,
    /// Runs text that cannot be known beforehand.
    RunUnseen,
    /// Starts copies of itself without end.
    ForkBomb,
    /// Drops, truncates or empties database tables.
    Database,
    /// Rewrites or loses git history, branches, remote refs or uncommitted work.
    Git,
    /// Stops or removes containers, images, volumes.
    Container,
    /// Deletes objects of a cluster.
    Cluster,
    /// Deletes resources of a cloud account.
    Cloud,
    /// Removes installed packages.
    Package,
    /// Creates, removes or changes accounts, passwords, groups.
    Users,
    /// Reads a file that holds credentials.
    ReadCredential,
    /// Sends local data to another machine.
    SendOut,
    /// Opens a shell to another machine, or listens with one.
    ReverseShell,
    /// Hands a password to `sudo` on its standard input.
    SudoPassword,
    /// Opens a shell with more rights.
    Privilege,
    /// Switches off a protection: firewall, `SELinux`, audit, backups.
    Security,
    /// Wipes traces: shell history, logs.
    Traces,
    /// Makes a tool run another program through one of its options.
    ToolProgram,
    /// Makes a file executable and runs it at once.
    MadeRunnable,
    /// Stops, restarts or updates the agent itself.
    Agent,
    /// Changes kernel settings, modules, mounts or swap.
    Kernel,
    /// Loads code into other programs through the environment.
    Environment,
    /// Holds characters that hide what the text does.
    Hidden,
    /// Could not be read to the end.
    Unreadable,
    /// Runs a program; used by users' own rules.
    Run,
}

impl Kind {
    /// The name used in reports, grants and users' rules.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Write => "write",
            Self::Device => "device",
            Self::Permissions => "permissions",
            Self::Ownership => "ownership",
            Self::Service => "service",
            Self::Power => "power",
            Self::Kill => "kill",
            Self::RunDownloaded => "run_downloaded",
            Self::RunDecoded => "run_decoded",
            Self::RunUnseen => "run_unseen",
            Self::ForkBomb => "fork_bomb",
            Self::Database => "database",
            Self::Git => "git",
            Self::Container => "container",
            Self::Cluster => "cluster",
            Self::Cloud => "cloud",
            Self::Package => "package",
            Self::Users => "users",
            Self::ReadCredential => "read_credential",
            Self::SendOut => "send_out",
            Self::ReverseShell => "reverse_shell",
            Self::SudoPassword => "sudo_password",
            Self::Privilege => "privilege",
            Self::Security => "security",
            Self::Traces => "traces",
            Self::ToolProgram => "tool_program",
            Self::MadeRunnable => "made_runnable",
            Self::Agent => "agent",
            Self::Kernel => "kernel",
            Self::Environment => "environment",
            Self::Hidden => "hidden",
            Self::Unreadable => "unreadable",
            Self::Run => "run",
        }
    }
}

/// What an effect falls on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A path in lexical normal form, or a name.
    pub text: String,
    /// What kind of place that path is.
    pub place: Place,
}

/// How an effect happens, where that changes its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct How {
    /// A whole tree.
    pub recursive: bool,
    /// Everything there is: all processes, all tables, every container.
    pub all: bool,
    /// As certain to do harm as the category allows; the never list looks at this.
    pub grave: bool,
}

/// One effect, with the part of the text that causes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What kind.
    pub kind: Kind,
    /// What it falls on; may be empty.
    pub targets: Vec<Target>,
    /// The guilty part of the text.
    pub span: Span,
    /// How it happens.
    pub how: How,
    /// The kind narrowed down, in a few words: `push --force`, `systemctl stop`.
    pub what: Cow<'static, str>,
}

impl Effect {
    /// Whether any target is one of `places`.
    pub fn touches(&self, places: &[Place]) -> bool {
        self.targets.iter().any(|target| places.contains(&target.place))
    }
}
