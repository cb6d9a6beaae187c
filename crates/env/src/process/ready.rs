//! A shell that waits for its command.
//!
//! Starting a shell takes longer than most commands do. So where commands follow each other, the shell
//! of the next is started while the last one runs. It has everything but the command, and that it gets
//! through its input, from somebody with a permit. It ends by itself when none comes for a while, and
//! when we are gone: then its input is closed.

use std::ffi::CString;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::environment::{EnvError, Input, Output, Start, Streams};
use hermes_core::host::Host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid};

use crate::process::running::Running;
use crate::process::spawn::{Child, Program, spawn};
use crate::shell::script::PLAIN;

/// What it runs. The lines that can fail are where they are in [`PLAIN`], for errors tell the number. One
/// byte is waited for, the rest is read at once: word by word would be byte by byte.
pub(crate) const SCRIPT: &str = r#"builtin read -r -t 60 -N 1 __h_go || builtin exit 0
builtin . /dev/stdin && [[ $__h_sent ]] || builtin exit 126; exec </dev/null; SECONDS=0 __h_old=$OLDPWD
builtin cd -- "$__h_dir" || builtin exit 126
OLDPWD=$__h_old
builtin set --; builtin unset __h_go __h_sent
builtin eval "$__h_cmd"
"#;

/// One that is older is not used any more: it could be about to end, which [`SCRIPT`] makes it do at 60.
const MAX_AGE: Duration = Duration::from_secs(45);

/// Longest command it is given, in bytes; as much always fits the pipe to it.
const MAX_TEXT: usize = 16 * 1024;

/// A started shell without a command.
pub(crate) struct Ready {
    /// Taken when it gets its command.
    child: Option<Child>,
    mark: String,
    /// All it was given but the mark.
    variables: Vec<CString>,
    since: Duration,
}

/// A command for a shell that waits.
pub(crate) struct Order<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) text: &'a str,
}

impl<'a> Order<'a> {
    /// The command, if it is one that any waiting shell could run.
    pub(crate) fn of(start: &Start, directory: &'a Path, text: &'a str) -> Option<Self> {
        let usual = start.script == PLAIN && !start.line && matches!(start.input, Input::Empty);
        let fits = text.len() + directory.as_os_str().len() <= MAX_TEXT && !text.contains('\0');
        (usual && fits && start.streams == Streams::Merged && directory.to_str().is_some())
            .then_some(Self { directory, text })
    }

    /// It, as the shell reads it.
    fn written(&self) -> String {
        let (directory, text) = (quoted(&self.directory.to_string_lossy()), quoted(self.text));
        // The first byte says that there is something to read.
        format!("\n__h_dir={directory} __h_cmd={text} __h_sent=1\n")
    }
}

impl Ready {
    /// Starts one. `program` has [`SCRIPT`] among its arguments, and no mark yet among its variables.
    pub(crate) fn start(
        mut program: Program<'_>,
        mark: String,
        marked: CString,
        host: &Arc<dyn Host>,
    ) -> Result<Self, EnvError> {
        let variables = program.variables.clone();
        program.variables.push(marked);
        Ok(Self { child: Some(spawn(&program)?), mark, variables, since: host.now() })
    }

    /// Whether a command with these variables can have it.
    pub(crate) fn fits(&self, variables: &[CString], now: Duration) -> bool {
        let alive = self.child.as_ref().is_some_and(|child| {
            let mut fds = [PollFd::from_borrowed_fd(child.pidfd.as_fd(), PollFlags::IN)];
            poll(&mut fds, Some(&Timespec::default())) == Ok(0)
        });
        alive && self.variables == variables && now.saturating_sub(self.since) < MAX_AGE
    }

    /// Gives it the command. Nothing comes back when it did not take it; then nothing was run.
    pub(crate) fn run(
        mut self,
        order: &Order<'_>,
        output: Arc<dyn Output>,
        host: &Arc<dyn Host>,
    ) -> Option<Result<Running, EnvError>> {
        let written = order.written();
        let input = self.child.as_mut()?.input.take()?;
        // What was written in part is not read: the end is missing, and the shell with it.
        if rustix::io::write(&input, written.as_bytes()) != Ok(written.len()) {
            return None;
        }
        drop(input);
        let child = self.child.take()?;
        Some(Running::of(child, &Input::Empty, std::mem::take(&mut self.mark), output, host))
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // It has no children, and nothing to lose.
        if let Some(child) = self.child.take() {
            let _ = pidfd_send_signal(&child.pidfd, Signal::KILL);
            let _ = waitid(WaitId::PidFd(child.pidfd.as_fd()), WaitIdOptions::EXITED);
        }
    }
}

/// A text as one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
