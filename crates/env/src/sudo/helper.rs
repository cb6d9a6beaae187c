//! The helper, and the link called `sudo`: this program, started once more under another name.

#![expect(clippy::disallowed_methods, reason = "a process of its own, with its words, variables and streams")]

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::desk::{ASKS_NOBODY, DONE, MAY_ASK};
use super::words::with_helper;
use super::{ASKPASS, HELPER, LINKS, QUIET, SOCKET, SUDO, is_ours};
use crate::probe::program_on_path;

/// What a shell says of a program that is not there.
const NOT_FOUND: u8 = 127;

/// To be called first thing in `main`, with the words the process was started with.
///
/// `None` means that the program was started under its own name and goes on as usual.
pub fn called(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut words = words.into_iter();
    let own = PathBuf::from(words.next()?);
    let name = own.file_name()?;
    if name == SUDO {
        return Some(become_sudo(words.collect()));
    }
    let first = match name {
        _ if name == HELPER => MAY_ASK,
        _ if name == QUIET => ASKS_NOBODY,
        _ => return None,
    };
    let prompt = words.next().unwrap_or_default();
    let folder = own.parent()?;
    Some(match ask(folder, first, &prompt) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            complain(&why);
            ExitCode::FAILURE
        }
    })
}

/// Hands the pipe over and waits until the password is in it.
fn ask(folder: &Path, first: u8, prompt: &OsStr) -> Result<(), String> {
    let lost = |error: std::io::Error| format!("the session that runs this command is not there: {error}");
    let mut line = UnixStream::connect(folder.join(SOCKET)).map_err(lost)?;
    hand_over(&line, first).map_err(lost)?;
    line.write_all(prompt.as_bytes()).and_then(|()| line.shutdown(Shutdown::Write)).map_err(lost)?;
    let mut answer = Vec::new();
    line.read_to_end(&mut answer).map_err(lost)?;
    match answer.split_first() {
        Some((&DONE, _)) => Ok(()),
        Some((_, why)) => Err(String::from_utf8_lossy(why).into_owned()),
        None => Err("the session that runs this command has ended".to_owned()),
    }
}

/// Sends standard output away, and has it no more.
fn hand_over(line: &UnixStream, first: u8) -> std::io::Result<()> {
    let null = OpenOptions::new().write(true).open("/dev/null")?;
    let output = std::io::stdout();
    let pipes = [output.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    rights.push(SendAncillaryMessage::ScmRights(&pipes));
    sendmsg(line, &[IoSlice::new(&[first])], &mut rights, SendFlags::empty())?;
    Ok(rustix::stdio::dup2_stdout(&null)?)
}

/// Becomes the real `sudo`; comes back only if it could not.
fn become_sudo(words: Vec<OsString>) -> ExitCode {
    let Some(real) = real_sudo() else {
        complain("sudo: command not found");
        return ExitCode::from(NOT_FOUND);
    };
    let helps = env::var_os(ASKPASS).is_some_and(|helper| is_ours(Path::new(&helper)));
    let words = if helps && !has_terminal() { with_helper(words) } else { words };
    let failed = Command::new(&real).arg0(SUDO).args(words).exec();
    complain(&format!("cannot start {}: {failed}", real.display()));
    ExitCode::from(NOT_FOUND)
}

/// The first `sudo` on the search path that is not a link to this program.
fn real_sudo() -> Option<PathBuf> {
    let own = fs::metadata("/proc/self/exe").map(|file| (file.dev(), file.ino())).ok();
    let path = env::var_os("PATH").unwrap_or_default();
    let ours = |folder: &Path| {
        let link = fs::metadata(folder.join(SUDO)).map(|file| (file.dev(), file.ino())).ok();
        folder.ends_with(LINKS) && link.is_some() && link == own
    };
    let others = env::split_paths(&path).filter(|folder| !ours(folder));
    program_on_path(SUDO, &env::join_paths(others).ok()?)
}

/// Whether `sudo` can ask where the command was started.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

fn complain(why: &str) {
    // Without standard error the exit code alone has to say it.
    let _ = writeln!(std::io::stderr(), "hermes: {why}");
}
