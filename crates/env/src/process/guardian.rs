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

/// `$1` is our part of the mark, `$2` our private folder. The watching part leaves its parent, so that it
/// is not ours to bury.
///
/// Who carries the mark is killed with everybody in its session: some programs write over their variables,
/// and the mark with them. That is done again until nothing is found. Who dies at this moment may still
/// write into the folder, or even make it anew, so that counts as removed only when it stays away.
const SCRIPT: &str = r#"exec 3<&0
(
  trap '' HUP INT TERM QUIT PIPE
  read -r _ <&3
  owner=$1 folder=$2 sessions=' '
  in_session() {
    read -r line 2>/dev/null <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    case $1 in Z | X | x) return 1 ;; esac
    session=$4
  }
  n=0
  while [ $n -lt 50 ]; do
    n=$((n + 1)) found=
    for file in $(grep -lsz "^_HERMES_RUN=$owner[.]" /proc/[0-9]*/environ); do
      pid=${file#/proc/}
      pid=${pid%/environ}
      found="$found $pid"
      in_session "$pid" && sessions="$sessions$session "
    done
    if [ "$sessions" != ' ' ]; then
      for file in /proc/[0-9]*; do
        pid=${file#/proc/}
        in_session "$pid" || continue
        case $sessions in *" $session "*) found="$found $pid" ;; esac
      done
    fi
    [ -n "$found" ] || break
    kill -KILL $found 2>/dev/null
  done
  n=0 away=0
  while [ -n "$folder" ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    if [ -e "$folder" ]; then
      away=0
      rm -rf -- "$folder" 2>/dev/null
    else
      away=$((away + 1))
    fi
    if [ $n -eq $away ] || [ $away -gt 10 ]; then break; fi
    sleep 0.1
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
