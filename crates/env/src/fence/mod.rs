//! The fence: what a command of this machine cannot do, whatever it tries.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | rights by path, and which have to be handed out to get there; pure |
//! | `spec.rs` | what is demanded, as words on the launcher's command line |
//! | `launch.rs` | the launcher: confines itself, then becomes the command |
//! | `apply.rs` | Landlock and seccomp, around the calling process |
//! | `support.rs` | what this kernel can do |
//! | `trial.rs` | the proof: forbidden things are tried inside a fence |
//! | `credentials.rs` | finds what must not be read, by asking about every entry of some folders |
//! | `resolve.rs` | paths without links |
//!
//! An environment asks [`Fence::wrap`] for the words to start instead of a command. The program named
//! as the launcher must call [`launched`] first thing in its `main`.

#[cfg(target_os = "linux")]
mod apply;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod apply;
mod credentials;
mod launch;
mod plan;
mod resolve;
mod spec;
mod support;
mod trial;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use credentials::{Kept, kept_from};
pub use launch::{NOT_RUN, launched};
use plan::{Plan, Rights};
pub use resolve::resolved;
use spec::Spec;
pub use support::Support;
pub use trial::{Check, Report, Wanted};

/// Devices every program may write to.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// How much is kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Nothing.
    #[default]
    Off,
    /// Writes outside the workspace, reads of credentials.
    Workspace,
    /// Also the network, and signals to processes outside.
    Strict,
}

impl Level {
    /// The word in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::Strict => "strict",
        }
    }
}

/// Which paths are special. Of two paths that hold a file the longer decides; on equal terms the
/// weaker right holds. A path that is not there is kept from coming into being where that matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ground {
    /// Where the work is done; may be written.
    pub workspace: PathBuf,
    /// For temporary files; may be written.
    pub temp: Vec<PathBuf>,
    /// What else may be written.
    pub granted: Vec<PathBuf>,
    /// What may be read and not written, even in the workspace.
    pub unwritable: Vec<PathBuf>,
    /// What may be neither read nor written.
    pub unreadable: Vec<PathBuf>,
    /// What may be read although it lies in something unreadable.
    pub readable: Vec<PathBuf>,
}

/// A fence that commands can be put behind.
#[derive(Debug, Clone)]
pub struct Fence {
    level: Level,
    launcher: PathBuf,
    spec: Spec,
    plan: Plan,
    signals: bool,
}

/// Words to start instead of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, from `$0` on.
    pub arguments: Vec<OsString>,
}

/// Something a command may want to do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect<'a> {
    /// Create, change, move or remove this path or something below it. Without links: [`resolved`].
    Write(&'a Path),
    /// Read this path or something below it. Without links: [`resolved`].
    Read(&'a Path),
    /// Change the mode, owner or times of something. No kernel lets a process be kept from that by
    /// path, so it is never impossible.
    ChangeMode(&'a Path),
    /// Reach another machine, or a port of this one.
    Connect,
    /// Signal a process that is not its own.
    Signal,
    /// Have it done by somebody else: a service manager, a container engine, another machine.
    Elsewhere,
}

/// Why there is no such fence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// A path has no fixed meaning.
    #[error("the fence needs absolute paths, and {} is none", .0.display())]
    Relative(PathBuf),
}

impl Fence {
    /// A fence on this ground. `launcher` is the program that calls [`launched`].
    ///
    /// Links in the paths are followed now and never again, so nothing a command does to them later
    /// can move the fence.
    pub fn new(level: Level, launcher: impl Into<PathBuf>, ground: &Ground) -> Result<Self, FenceError> {
        let write = std::iter::once(&ground.workspace).chain(&ground.temp).chain(&ground.granted);
        let weaker = [
            (Rights::Read, &ground.unwritable),
            (Rights::None, &ground.unreadable),
            (Rights::Read, &ground.readable),
        ];
        // A disk holds every file; what else is needed of the devices can be granted.
        let mut entries = vec![(Rights::None, PathBuf::from("/dev"))];
        entries.extend(DEVICES.iter().map(|device| (Rights::Write, PathBuf::from(device))));
        for path in write {
            entries.push((Rights::Write, resolved(&absolute(path)?)));
        }
        for (rights, paths) in weaker {
            for path in paths {
                let whole = resolved(&absolute(path)?);
                let link = resolve::but_for_the_last(path);
                entries.extend([(rights, whole), (rights, link)]);
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let strict = level == Level::Strict;
        let spec = Spec { entries, no_network: strict, unix_sockets: false, scoped: strict };
        let signals = apply::landlock_abi() >= 6;
        Ok(Self { level, launcher: launcher.into(), plan: spec.plan(), spec, signals })
    }

    /// The same without a network, whatever the level; an open ground stays open.
    pub fn without_network(mut self) -> Self {
        self.spec.no_network = true;
        self
    }

    /// The same, but sockets that are files can be used even without a network. Whoever listens there
    /// may do things for a command that it cannot do itself.
    pub fn with_unix_sockets(mut self) -> Self {
        self.spec.unix_sockets = true;
        self
    }

    /// How much is kept out.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What to start instead of this command; `arguments` begin with `$0`.
    pub fn wrap(&self, program: &Path, arguments: impl IntoIterator<Item = OsString>) -> Wrapped {
        let arguments = arguments.into_iter();
        if self.level == Level::Off {
            return Wrapped { program: program.to_owned(), arguments: arguments.collect() };
        }
        let words = std::iter::once("hermes".into()).chain(self.spec.words());
        let arguments = words.chain([program.as_os_str().to_owned()]).chain(arguments).collect();
        Wrapped { program: self.launcher.clone(), arguments }
    }

    /// Whether no command behind this fence can do it, so that nobody needs to be asked.
    ///
    /// A command that cannot be put behind the fence does not run, so this needs no proof beforehand.
    /// `false` means only that the fence does not stand in the way.
    pub fn makes_impossible(&self, effect: Effect<'_>) -> bool {
        if self.level == Level::Off {
            return false;
        }
        match effect {
            Effect::Write(path) => path.is_absolute() && self.plan.most_at_or_below(path) < Rights::Write,
            Effect::Read(path) => path.is_absolute() && self.plan.most_at_or_below(path) < Rights::Read,
            Effect::Connect => self.spec.no_network,
            Effect::Signal => self.spec.scoped && self.signals,
            Effect::ChangeMode(_) | Effect::Elsewhere => false,
        }
    }

    /// Folders that may be written, but in which nothing new can be made because something protected
    /// is below them: what is there already can be changed.
    pub fn frozen(&self) -> Vec<PathBuf> {
        self.plan.frozen()
    }
}

fn absolute(path: &Path) -> Result<PathBuf, FenceError> {
    if path.is_absolute() { Ok(path.to_owned()) } else { Err(FenceError::Relative(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(level: Level) -> Fence {
        let ground = Ground {
            workspace: "/h/u/project".into(),
            temp: vec!["/tmp".into()],
            granted: vec!["/h/u/.cache".into()],
            unwritable: vec!["/h/u/project/policy".into()],
            unreadable: vec!["/h/u/.ssh".into(), "/h/u/project/secret".into()],
            readable: vec!["/h/u/.ssh/config".into()],
        };
        Fence::new(level, "/usr/bin/hermes", &ground).unwrap()
    }

    #[test]
    fn only_what_cannot_happen_is_impossible() {
        let fence = fence(Level::Workspace);
        let write = |path: &str| fence.makes_impossible(Effect::Write(Path::new(path)));
        let read = |path: &str| fence.makes_impossible(Effect::Read(Path::new(path)));

        for path in ["/etc", "/h/u/other", "/h/u/.ssh/id", "/h/u/project/policy/x", "/h/u/project/secret"] {
            assert!(write(path), "{path}");
        }
        // Of the last three, a part can be written.
        for path in ["/h/u/project/x", "/tmp", "/h/u/.cache/y", "relative", "/h/u", "/h/u/project", "/"] {
            assert!(!write(path), "{path}");
        }
        assert!(read("/h/u/.ssh/id") && read("/h/u/project/secret/x"));
        assert!(!read("/h/u/.ssh/config") && !read("/h/u/.ssh") && !read("/h/u") && !read("/etc"));
        assert!(!fence.makes_impossible(Effect::Connect));
        assert!(!fence.makes_impossible(Effect::Signal));
        assert!(fence.clone().without_network().makes_impossible(Effect::Connect));
    }

    #[test]
    fn what_somebody_else_does_is_never_impossible() {
        let fence = fence(Level::Strict);

        assert!(fence.makes_impossible(Effect::Connect));
        assert!(!fence.makes_impossible(Effect::Elsewhere));
        assert!(!fence.makes_impossible(Effect::ChangeMode(Path::new("/etc"))));
    }

    #[test]
    fn an_open_ground_makes_nothing_impossible_and_starts_the_command_itself() {
        let fence = fence(Level::Off).without_network();

        let wrapped = fence.wrap(Path::new("/bin/sh"), ["sh".into(), "-c".into()]);

        assert_eq!(wrapped, Wrapped { program: "/bin/sh".into(), arguments: vec!["sh".into(), "-c".into()] });
        assert!(!fence.makes_impossible(Effect::Connect));
        assert!(!fence.makes_impossible(Effect::Write(Path::new("/etc"))));
    }

    #[test]
    fn a_command_is_started_through_the_launcher() {
        let wrapped =
            fence(Level::Strict).wrap(Path::new("/bin/sh"), ["sh".into(), "-c".into(), "true".into()]);

        assert_eq!(wrapped.program, Path::new("/usr/bin/hermes"));
        assert_eq!(wrapped.arguments[..2], ["hermes", "__fenced"]);
        assert!(wrapped.arguments.ends_with(&["--", "/bin/sh", "sh", "-c", "true"].map(OsString::from)));
    }

    #[test]
    fn a_relative_path_makes_no_fence() {
        let ground = Ground { workspace: "project".into(), ..Ground::default() };

        assert_eq!(
            Fence::new(Level::Strict, "/x", &ground).unwrap_err(),
            FenceError::Relative("project".into())
        );
    }
}
