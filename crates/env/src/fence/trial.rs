//! The proof that a fence holds: what it forbids is really tried behind it, and so is what it allows.
//!
//! The starter makes sure first that it could do each forbidden thing itself; otherwise a refusal
//! would prove nothing.

#![expect(clippy::disallowed_methods, reason = "the proof reads, writes and connects")]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::Pid;

use super::{Effect, Fence, FenceError, Ground, Level};

/// First word of the command line of the part that tries.
pub(super) const TRIAL: &str = "__fence_trial";

/// Most places of the real ground that are tried per kind.
const PLACES: usize = 16;

/// What should come of something that is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It works.
    Allowed,
    /// It does not.
    Refused,
}

/// One thing that was tried behind the fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What, in words.
    pub what: String,
    /// What should have come of it.
    pub wanted: Wanted,
    /// Nothing when it worked, otherwise the system's words.
    pub refused: Option<String>,
}

impl Check {
    /// Whether it came out as it should.
    pub fn holds(&self) -> bool {
        self.refused.is_some() == (self.wanted == Wanted::Refused)
    }
}

/// What came of trying a fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The level that was tried.
    pub level: Level,
    /// Everything that was tried.
    pub checks: Vec<Check>,
    /// Why nothing, or not everything, could be tried.
    pub broken: Option<String>,
}

impl Report {
    /// Whether everything was tried and came out as it should.
    pub fn holds(&self) -> bool {
        self.broken.is_none() && !self.checks.is_empty() && self.checks.iter().all(Check::holds)
    }
}

/// Something to try.
struct Attempt {
    what: String,
    wanted: Wanted,
    word: OsString,
}

impl Attempt {
    fn new(wanted: Wanted, what: impl Into<String>, kind: &str, on: impl AsRef<OsStr>) -> Self {
        let word = OsString::from_vec([kind.as_bytes(), b":", on.as_ref().as_bytes()].concat());
        Self { what: what.into(), wanted, word }
    }
}

impl Fence {
    /// Tries everything this fence is for, in a fresh folder below `scratch` and on its own ground.
    ///
    /// Blocks for as long as it takes to start two small processes.
    pub fn self_test(&self, scratch: &Path) -> Report {
        let mut report = Report { level: self.level, checks: Vec::new(), broken: None };
        if self.level == Level::Off {
            return report;
        }
        let tried = Scratch::make(scratch).map_err(|why| format!("no folder to try it in: {why}")).and_then(
            |scratch| {
                report.checks.extend(self.try_mechanism(&scratch)?);
                report.checks.extend(self.try_ground()?);
                Ok(())
            },
        );
        report.broken = tried.err();
        report
    }

    /// A fence of the same kind around a fresh folder.
    fn try_mechanism(&self, scratch: &Scratch) -> Result<Vec<Check>, String> {
        let words = |why: io::Error| format!("the trial could not be prepared: {why}");
        scratch.fill().map_err(words)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(words)?;
        let port = listener.local_addr().map_err(words)?.port();
        let _named = UnixListener::bind(scratch.at("in/socket")).map_err(words)?;
        let ground = Ground {
            workspace: scratch.at("in"),
            unreadable: vec![scratch.at("secret")],
            unwritable: vec![scratch.at("in/fixed")],
            ..Ground::default()
        };
        let mut fence =
            Self::new(self.level, &self.launcher, &ground).map_err(|why: FenceError| why.to_string())?;
        fence.spec.no_network = self.spec.no_network;
        fence.spec.unix_sockets = self.spec.unix_sockets;
        let mut attempts = file_attempts(scratch);
        let network = if self.spec.no_network { Wanted::Refused } else { Wanted::Allowed };
        let named = if self.spec.unix_sockets { Wanted::Allowed } else { network };
        attempts.extend([
            Attempt::new(network, "connect to a port", "tcp", format!("127.0.0.1:{port}")),
            Attempt::new(network, "open a socket for datagrams", "udp", "127.0.0.1:0"),
            Attempt::new(named, "connect to a socket that is a file", "unix", scratch.at("in/socket")),
        ]);
        if self.makes_impossible(Effect::Signal) {
            let me = std::process::id().to_string();
            attempts.push(Attempt::new(Wanted::Refused, "signal a process outside", "signal", me));
        }
        fence.tried(attempts)
    }

    /// The fence itself, where this process could do what the fence forbids.
    fn try_ground(&self) -> Result<Vec<Check>, String> {
        let unreadable = self.spec.entries.iter().filter(|(rights, _)| *rights == super::Rights::None);
        let secret = unreadable.clone().filter_map(|(_, path)| self.secret_file(path, 2));
        let mut attempts: Vec<Attempt> = secret
            .take(PLACES)
            .map(|path| Attempt::new(Wanted::Refused, format!("read {}", path.display()), "read", &path))
            .collect();
        let mut places: Vec<PathBuf> = self
            .spec
            .entries
            .iter()
            .filter_map(|(_, path)| path.parent())
            .map(|place| place.join(format!(".hermes-fence-{}", std::process::id())))
            .filter(|file| self.makes_impossible(Effect::Write(file)) && could_write(file))
            .collect();
        places.sort();
        places.dedup();
        attempts.extend(places.iter().take(PLACES).map(|file| {
            let folder = file.parent().unwrap_or(file).display();
            Attempt::new(Wanted::Refused, format!("make a file in {folder}"), "write", file)
        }));
        if attempts.is_empty() { Ok(Vec::new()) } else { self.tried(attempts) }
    }

    /// A file at or below this path that only this fence keeps from being read.
    fn secret_file(&self, path: &Path, deep: usize) -> Option<PathBuf> {
        let found = fs::symlink_metadata(path).ok()?;
        if found.is_file() {
            let kept = self.makes_impossible(Effect::Read(path)) && File::open(path).is_ok();
            return kept.then(|| path.to_owned());
        }
        let entries = fs::read_dir(path).ok().filter(|_| deep > 0 && found.is_dir())?;
        entries.take(50).filter_map(Result::ok).find_map(|entry| self.secret_file(&entry.path(), deep - 1))
    }

    /// Tries all of it in one process behind the fence.
    fn tried(&self, attempts: Vec<Attempt>) -> Result<Vec<Check>, String> {
        let words = ["hermes", TRIAL].map(OsString::from).into_iter();
        let wrapped =
            self.wrap(&self.launcher, words.chain(attempts.iter().map(|attempt| attempt.word.clone())));
        let mut arguments = wrapped.arguments.into_iter();
        let mut command = Command::new(&wrapped.program);
        command.arg0(arguments.next().unwrap_or_default()).args(arguments).env_clear();
        let output =
            command.output().map_err(|why| format!("cannot start {}: {why}", wrapped.program.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<&str> = said.lines().collect();
        if !output.status.success() || answers.len() != attempts.len() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the trial ended with {}: {}", output.status, why.trim()));
        }
        let checks = attempts.into_iter().zip(answers).map(|(Attempt { what, wanted, .. }, answer)| Check {
            what,
            wanted,
            refused: answer.strip_prefix("no ").map(str::to_owned),
        });
        Ok(checks.collect())
    }
}

fn file_attempts(scratch: &Scratch) -> Vec<Attempt> {
    use Wanted::{Allowed, Refused};
    let environment = format!("/proc/{}/environ", std::process::id());
    vec![
        Attempt::new(Allowed, "make a file in a folder of the workspace", "write", scratch.at("in/sub/new")),
        Attempt::new(Allowed, "read a file outside", "read", scratch.at("out/file")),
        Attempt::new(Refused, "make a file outside", "write", scratch.at("out/new")),
        Attempt::new(Refused, "make a file outside through a link", "write", scratch.at("in/link/new")),
        Attempt::new(Refused, "empty a file outside", "truncate", scratch.at("out/file")),
        Attempt::new(Refused, "remove a file outside", "remove", scratch.at("out/file")),
        Attempt::new(Refused, "change what is protected in the workspace", "append", scratch.at("in/fixed")),
        Attempt::new(Refused, "read a credential", "read", scratch.at("secret/key")),
        Attempt::new(Refused, "read a credential through a link", "read", scratch.at("in/key")),
        Attempt::new(Refused, "read the variables of a process outside", "read", environment),
    ]
}

/// A folder for one trial, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn make(below: &Path) -> io::Result<Self> {
        let below = below.canonicalize()?;
        (0..100)
            .map(|n| below.join(format!("hermes-fence-{}-{n}", std::process::id())))
            .find_map(|path| match fs::create_dir(&path) {
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => None,
                made => Some(made.map(|()| Self(path))),
            })
            .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn fill(&self) -> io::Result<()> {
        ["in", "in/sub", "out", "secret"].into_iter().try_for_each(|name| fs::create_dir(self.at(name)))?;
        ["in/fixed", "out/file", "secret/key"]
            .into_iter()
            .try_for_each(|name| fs::write(self.at(name), name))?;
        symlink("../out", self.at("in/link"))?;
        symlink("../secret/key", self.at("in/key"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of a trial in a temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether this process could make that file.
fn could_write(file: &Path) -> bool {
    file.parent().is_some_and(|folder| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok())
        && fs::symlink_metadata(file).is_err()
}

/// The part behind the fence: tries each word and says what came of it, one line each.
pub(super) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let mut out = io::stdout().lock();
    for word in words {
        let line = match attempt(&word) {
            Ok(()) => "ok".to_owned(),
            Err(why) => format!("no {}", why.to_string().replace('\n', " ")),
        };
        if writeln!(out, "{line}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn attempt(word: &OsStr) -> io::Result<()> {
    let unknown = || io::Error::other("not something to try");
    let at = word.as_bytes().iter().position(|byte| *byte == b':').ok_or_else(unknown)?;
    let (kind, on) = word.as_bytes().split_at_checked(at).ok_or_else(unknown)?;
    let on = OsStr::from_bytes(on.get(1..).unwrap_or_default());
    let text = on.to_str().unwrap_or_default();
    match kind {
        b"write" => {
            OpenOptions::new().write(true).create_new(true).open(on)?;
            fs::remove_file(on)
        }
        b"append" => OpenOptions::new().append(true).open(on).map(drop),
        b"truncate" => OpenOptions::new().write(true).truncate(true).open(on).map(drop),
        b"remove" => fs::remove_file(on),
        b"read" => fs::read(on).map(drop),
        b"tcp" => TcpStream::connect(text).map(drop),
        b"udp" => UdpSocket::bind(text).map(drop),
        b"unix" => UnixStream::connect(on).map(drop),
        b"signal" => {
            let pid = text.parse().ok().and_then(Pid::from_raw).ok_or_else(unknown)?;
            Ok(rustix::process::test_kill_process(pid)?)
        }
        _ => Err(unknown()),
    }
}
