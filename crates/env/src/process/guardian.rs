//! The guardian: what stops our processes when we are killed before we could.
//!
//! It is a small shell that waits on a pipe whose other end only this process holds. The system
//! closes that end however we die, the guardian wakes, and everything that carries our mark is
//! killed. Background jobs that are meant to live on do not carry it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use hermes_core::environment::{EnvError, Input, Streams};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::process::spawn::{Child, Program, spawn, word};

/// `$1` is our part of the mark, `$2` our private folder. The watching part leaves its parent, so that it is not ours to
/// bury; it looks again until nothing is found. Who lost its mark and dies with the others may still write
/// into the folder for a moment, so that is removed until it is gone.
const SCRIPT: &str = r#"exec 3<&0
(
  trap '' HUP INT TERM QUIT PIPE
  read -r _ <&3
  n=0
  while [ $n -lt 50 ]; do
    n=$((n + 1))
    found=$(grep -lsz "^_HERMES_RUN=$1[.]" /proc/[0-9]*/environ)
    [ -n "$found" ] || break
    for file in $found; do
      pid=${file#/proc/}
      kill -KILL "${pid%/environ}" 2>/dev/null
    done
  done
  n=0
  while [ -n "$2" ] && [ -e "$2" ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    rm -rf -- "$2" 2>/dev/null || sleep 0.1
  done
) &
"#;

/// Lives as long as its owner.
pub(crate) struct Guardian {
    /// Closing it is the sign.
    _held: Option<OwnedFd>,
    starter: OwnedFd,
}

impl Guardian {
    /// Starts watching over everything whose mark begins with `owner`, and over our private folder.
    pub(crate) fn start(owner: &str, folder: Option<&Path>) -> Result<Self, EnvError> {
        let folder = folder.and_then(Path::to_str).unwrap_or_default();
        let program = Program {
            path: Path::new("/bin/sh"),
            arguments: ["sh", "-c", SCRIPT, "hermes-guardian", owner, folder]
                .into_iter()
                .map(word)
                .collect::<Result<_, _>>()?,
            variables: word("PATH=/usr/local/bin:/usr/bin:/bin").into_iter().collect(),
            input: &Input::Open,
            streams: Streams::Merged,
            line: false,
        };
        // Our end of its output is closed at once: it has nothing to say.
        let Child { input, pidfd, .. } = spawn(&program)?;
        Ok(Self { _held: input, starter: pidfd })
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // It ended long ago, right after it had started the part that watches.
        let _ = waitid(WaitId::PidFd(self.starter.as_fd()), WaitIdOptions::EXITED);
    }
}
