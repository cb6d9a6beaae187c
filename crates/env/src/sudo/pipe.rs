//! The pipe that `sudo` reads the password from, and who else holds it.
//!
//! The helper hands its end to us and lets go of it. If then anybody but `sudo` still holds an end, or
//! opens it once more through `/proc`, it is somebody who wants to read along.

#![expect(clippy::disallowed_methods, reason = "open descriptors are listed below /proc")]

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use hermes_core::sudo::{Password, wipe};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Says why the password must not go into the pipe.
pub(super) fn check(pipe: &OwnedFd, sudo: i32) -> Result<(), String> {
    let own = std::process::id();
    let here = format!("/proc/{own}/fd/{}", pipe.as_raw_fd());
    let name = fs::read_link(&here).map_err(|error| error.to_string())?;
    let flags = fcntl_getfl(pipe).map_err(|error| error.to_string())?;
    if !name.to_string_lossy().starts_with("pipe:[") || !flags.contains(OFlags::WRONLY) {
        return Err("the password was to go somewhere else than to sudo".to_owned());
    }
    let holders = fs::read_dir("/proc").map_err(|error| error.to_string())?;
    for holder in holders.flatten() {
        let Some(pid) = holder.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if pid != sudo && holds(&holder.path(), &name, Path::new(&here)) {
            return Err(format!("process {pid} would read the password along with sudo"));
        }
    }
    Ok(())
}

/// Whether a process has the pipe open, elsewhere than in our own descriptor. Processes of other users
/// cannot be looked into, and could not have come by it.
fn holds(process: &Path, pipe: &Path, own: &Path) -> bool {
    let Ok(open) = fs::read_dir(process.join("fd")) else { return false };
    let open = open.flatten().map(|entry| entry.path()).filter(|path| path != own);
    open.filter_map(|path: PathBuf| fs::read_link(path).ok()).any(|to| to == pipe)
}

/// Writes the password as `sudo` wants it: a line.
pub(super) fn deliver(pipe: &OwnedFd, password: &Password) -> io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
    let mut line = Vec::with_capacity(password.reveal().len() + 1);
    line.extend_from_slice(password.reveal());
    line.push(b'\n');
    let written = rustix::io::write(pipe, &line);
    let whole = line.len();
    wipe(&mut line);
    // An empty pipe takes a line whole, or something is in it that is not ours.
    if written? == whole { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}
