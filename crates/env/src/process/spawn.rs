//! The door: the one place where a process is started.
//!
//! Every child leads a session of its own, so it has no terminal but the one it is given and can
//! be stopped with its children; it gets exactly the variables and descriptors named here, and no
//! signal is ignored or held back from it. `posix_spawn` does this without copying our memory.

#![expect(clippy::disallowed_methods, reason = "the door to processes")]

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hermes_core::environment::{EnvError, Input, Size, Streams};
use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::Mode;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::fence::{Fence, Wrapped};
use crate::process::line;

/// `POSIX_SPAWN_SETSID` of glibc and musl, which the library does not name.
const SETSID: i32 = 0x80;

/// What is to be started.
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    /// From `$0` on.
    pub(crate) arguments: Vec<CString>,
    /// `NAME=value`, each.
    pub(crate) variables: Vec<CString>,
    pub(crate) input: &'a Input,
    pub(crate) streams: Streams,
    /// Whether it gets a line to us.
    pub(crate) line: bool,
}

/// A started process and our ends of its descriptors, none of which block.
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
    pub(crate) out: OwnedFd,
    pub(crate) err: Option<OwnedFd>,
    pub(crate) input: Option<OwnedFd>,
    /// Whether `out` is the other side of a terminal.
    pub(crate) terminal: bool,
    /// Our end of its line.
    pub(crate) line: Option<OwnedFd>,
}

/// The child's ends, closed once it has them.
struct Ends {
    input: End,
    out: End,
    err: Option<OwnedFd>,
}

enum End {
    Fd(OwnedFd),
    Path(PathBuf),
}

/// Starts it.
pub(crate) fn spawn(program: &Program<'_>) -> Result<Child, EnvError> {
    let failed = |why: String| EnvError::Start { what: program.path.display().to_string(), why };
    started(program).map_err(|error| failed(error.to_string()))
}

fn started(program: &Program<'_>) -> io::Result<Child> {
    let (mut ours, ends) = match program.streams {
        Streams::Terminal(size) => terminal(size)?,
        Streams::Merged => pipes(program.input, false)?,
        Streams::Separate => pipes(program.input, true)?,
    };
    let mut actions = PosixSpawnFileActions::init()?;
    connect(&mut actions, 0, &ends.input, OFlag::O_RDONLY)?;
    // The terminal was opened for both directions; the outputs are the same descriptor.
    match (&ends.out, &ends.err) {
        (End::Path(_), _) => {
            actions.add_dup2(0, 1)?;
            actions.add_dup2(0, 2)?;
        }
        (out @ End::Fd(_), err) => {
            connect(&mut actions, 1, out, OFlag::O_WRONLY)?;
            actions.add_dup2(err.as_ref().map_or(1, AsRawFd::as_raw_fd), 2)?;
        }
    }
    for fd in inherited() {
        actions.add_close(*fd)?;
    }
    let (our_line, their_line) = if program.line { line::pair().map(Some)?.unzip() } else { (None, None) };
    if let Some(theirs) = &their_line {
        // Last: the number may be one of those that were copied above.
        actions.add_dup2(theirs.as_raw_fd(), line::NUMBER)?;
    }
    let pid = posix_spawn(program.path, &actions, &attributes()?, &program.arguments, &program.variables)?;
    drop((ends, their_line));
    let pid = Pid::from_raw(pid.as_raw()).ok_or_else(|| io::Error::other("no process number"))?;
    // It cannot be gone: nobody but us can take its place, and we have not asked for it yet.
    ours.pidfd = Some(pidfd_open(pid, PidfdFlags::empty())?);
    ours.line = our_line;
    ours.child(pid)
}

/// Descriptors this process was started with and that would be passed on. Whatever we open
/// ourselves is not, so the list is made once.
fn inherited() -> &'static [RawFd] {
    static INHERITED: OnceLock<Vec<RawFd>> = OnceLock::new();
    INHERITED.get_or_init(|| {
        let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
        numbers.filter(|number| *number > 2 && passed_on(*number)).collect()
    })
}

/// Whether a child would get this descriptor.
fn passed_on(number: RawFd) -> bool {
    let known = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = known.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & OFlag::O_CLOEXEC.bits() == 0)
}

/// A new session, all signals as they are by default.
fn attributes() -> io::Result<PosixSpawnAttr> {
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::from_bits_retain(SETSID)
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK,
    )?;
    let mut usual = SigSet::empty();
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        usual.add(signal);
    }
    attributes.set_sigdefault(&usual)?;
    attributes.set_sigmask(&SigSet::empty())?;
    Ok(attributes)
}

fn connect(actions: &mut PosixSpawnFileActions, at: RawFd, end: &End, how: OFlag) -> io::Result<()> {
    match end {
        End::Fd(fd) => actions.add_dup2(fd.as_raw_fd(), at)?,
        // A session leader without a terminal gets the first one it opens.
        End::Path(path) if path.starts_with("/dev/pts") => {
            actions.add_open(at, path.as_path(), OFlag::O_RDWR, Mode::empty())?;
        }
        End::Path(path) => actions.add_open(at, path.as_path(), how, Mode::empty())?,
    }
    Ok(())
}

/// Our ends while the child does not exist yet.
struct Ours {
    pidfd: Option<OwnedFd>,
    out: OwnedFd,
    err: Option<OwnedFd>,
    input: Option<OwnedFd>,
    terminal: bool,
    line: Option<OwnedFd>,
}

impl Ours {
    fn child(self, pid: Pid) -> io::Result<Child> {
        let Self { pidfd, out, err, input, terminal, line } = self;
        for fd in [Some(&out), err.as_ref(), input.as_ref(), line.as_ref()].into_iter().flatten() {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        let pidfd = pidfd.ok_or_else(|| io::Error::other("no descriptor for the process"))?;
        Ok(Child { pid, pidfd, out, err, input, terminal, line })
    }
}

fn pipes(input: &Input, separate: bool) -> io::Result<(Ours, Ends)> {
    let (out, their_out) = pipe_with(PipeFlags::CLOEXEC)?;
    let (err, their_err) = if separate {
        let (err, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        (Some(err), Some(theirs))
    } else {
        (None, None)
    };
    let (their_input, input) = match input {
        Input::Empty => (End::Path("/dev/null".into()), None),
        Input::Bytes(_) | Input::Open => {
            let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
            (End::Fd(theirs), Some(ours))
        }
    };
    let ours = Ours { pidfd: None, out, err, input, terminal: false, line: None };
    Ok((ours, Ends { input: their_input, out: End::Fd(their_out), err: their_err }))
}

fn terminal(size: Size) -> io::Result<(Ours, Ends)> {
    let out = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&out)?;
    unlockpt(&out)?;
    resize(&out, size)?;
    let path = PathBuf::from(OsStr::from_bytes(ptsname(&out, Vec::new())?.as_bytes()));
    let input = Some(out.try_clone()?);
    let ours = Ours { pidfd: None, out, err: None, input, terminal: true, line: None };
    Ok((ours, Ends { input: End::Path(path.clone()), out: End::Path(path), err: None }))
}

/// Changes the size of a terminal.
pub(crate) fn resize(terminal: &OwnedFd, size: Size) -> io::Result<()> {
    let Size { rows, columns } = size;
    Ok(tcsetwinsize(terminal, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?)
}

/// A text as an argument; a NUL inside cannot be passed on.
pub(crate) fn word(text: &str) -> Result<CString, EnvError> {
    CString::new(text).map_err(|_| EnvError::Start {
        what: "the command".to_owned(),
        why: "it holds a NUL byte, which no program can be given".to_owned(),
    })
}

/// What to start so that a program runs behind a fence.
pub(crate) fn behind(
    fence: &Fence,
    program: &Path,
    arguments: Vec<CString>,
) -> Result<(PathBuf, Vec<CString>), EnvError> {
    let arguments = arguments.into_iter().map(|word| OsString::from_vec(word.into_bytes()));
    let Wrapped { program, arguments } = fence.wrap(program, arguments);
    let words: Result<_, _> = arguments.into_iter().map(|word| CString::new(word.into_vec())).collect();
    let words = words.map_err(|_| EnvError::Start {
        what: "the command".to_owned(),
        why: "the fence cannot be described to its launcher".to_owned(),
    })?;
    Ok((program, words))
}

/// `NAME=value`; a pair that cannot be passed on is left out.
pub(crate) fn variable(name: &[u8], value: &[u8]) -> Option<CString> {
    let sound = !name.is_empty() && !name.contains(&b'=');
    sound.then(|| CString::new([name, b"=", value].concat()).ok()).flatten()
}
