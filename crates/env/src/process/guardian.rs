//! The guardian: what stops our processes when we are killed before we could.
//!
//! It is a small shell that waits on a pipe whose other end only this process holds. The system
//! closes that end however we die, the guardian wakes, and everything that carries our mark is
//! killed, with everything that holds a pipe it was told of. Background jobs that are meant to live
//! on have neither. Programs that end by themselves when there is nothing more for them to read are
//! given a while to do so, and asked before they are killed.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use hermes_core::environment::{EnvError, Input, Streams};

use rustix::io::write;
use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::process::spawn::{Child, Program, spawn, word};
use crate::process::tether::Tether;

/// `$1` is our part of the mark, `$2` our private folder, `$3` whether programs may end by themselves: for a
/// second, and for another one after they were asked. The watching part leaves its parent, so that it is not
/// ours to bury.
///
/// Who carries the mark is killed with everybody in its session: some programs write over their variables,
/// and the mark with them. That is done again until nothing is found; a session that nobody is in any more is
/// forgotten, since its number may be given to somebody else. Who dies at this moment may still
/// write into the folder, or even make it anew, so that counts as removed only when it stays away.
const SCRIPT: &str = r#"exec 3<&0
(
  trap '' HUP INT TERM QUIT PIPE
  owner=$1 folder=$2 patient=$3 sessions=' ' pipes=' '
  while read -r pipe <&3; do pipes="$pipes$pipe "; done
  in_session() {
    read -r line 2>/dev/null <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    case $1 in Z | X | x) return 1 ;; esac
    session=$4
  }
  holders() {
    [ "$pipes" != ' ' ] || return 0
    ls -l /proc/[0-9]*/fd 2>/dev/null | while read -r line; do
      case $line in
      /proc/*/fd:) pid=${line#/proc/} pid=${pid%/fd:} ;;
      *' -> pipe:['*)
        rights=${line%"${line#????}"} pipe=${line##*[}
        case $pipes in *" $rights:${pipe%]} "*) echo "$pid" ;; esac
        ;;
      esac
    done
  }
  find_all() {
    found=$(holders)
    for file in $(grep -lsz "^_HERMES_RUN=$owner[.]" /proc/[0-9]*/environ); do
      pid=${file#/proc/}
      pid=${pid%/environ}
      found="$found $pid"
      in_session "$pid" && sessions="$sessions$session "
    done
    if [ "$sessions" != ' ' ]; then
      known=$sessions sessions=' '
      for file in /proc/[0-9]*; do
        pid=${file#/proc/}
        in_session "$pid" || continue
        case $known in *" $session "*) found="$found $pid" sessions="$sessions$session " ;; esac
      done
    fi
    [ -n "$found" ]
  }
  all_end() {
    for time in 0.1 0.2 0.3 0.4; do
      sleep $time
      find_all || return 0
    done
    return 1
  }
  if [ -n "$patient" ] && find_all && ! all_end; then
    kill -TERM $found 2>/dev/null
    all_end
  fi
  n=0
  while [ $n -lt 50 ] && find_all; do
    n=$((n + 1))
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

/// How programs are ended when we are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// They are killed.
    AtOnce,
    /// They read the end of their input and may end by themselves, are asked to, and killed at last.
    Patient,
}

/// Lives as long as its owner.
pub(crate) struct Guardian {
    /// Closing it is the sign.
    held: Option<OwnedFd>,
    starter: OwnedFd,
}

impl Guardian {
    /// Starts watching over everything whose mark begins with `owner`, and over our private folder.
    pub(crate) fn start(owner: &str, folder: Option<&Path>, manner: Manner) -> Result<Self, EnvError> {
        let folder = folder.and_then(Path::to_str).unwrap_or_default();
        let patient = if manner == Manner::Patient { "yes" } else { "" };
        let program = Program {
            path: Path::new("/bin/sh"),
            arguments: ["sh", "-c", SCRIPT, "hermes-guardian", owner, folder, patient]
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
        Ok(Self { held: input, starter: pidfd })
    }

    /// Whoever holds one of these pipes when we are gone is one of ours.
    pub(crate) fn tell(&self, pipes: &Tether) {
        if let Some(held) = &self.held {
            // It reads at once; a line that it could not take leaves what the mark finds.
            let _ = write(held, pipes.lines().as_bytes());
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // It ended long ago, right after it had started the part that watches.
        let _ = waitid(WaitId::PidFd(self.starter.as_fd()), WaitIdOptions::EXITED);
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Starts a script whose input stays open.
    fn started(script: &str) -> Child {
        let program = Program {
            path: Path::new("/bin/sh"),
            arguments: ["sh", "-c", script].iter().map(|text| word(text).unwrap()).collect(),
            variables: vec![word("PATH=/usr/bin:/bin").unwrap()],
            input: &Input::Open,
            streams: Streams::Separate,
            line: false,
        };
        spawn(&program).unwrap()
    }

    /// Whether it ends within so many seconds.
    fn ends(child: &Child, seconds: i64) -> bool {
        let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], Some(&limit)).unwrap() == 1
    }

    #[test]
    fn whoever_holds_a_pipe_that_was_told_of_goes_with_us() {
        let (held, other) = (started("exec sleep 1000"), started("exec sleep 1000"));
        let guardian = Guardian::start("nobody", None, Manner::AtOnce).unwrap();
        guardian.tell(&Tether::of(&held));

        drop(guardian);

        assert!(ends(&held, 30), "who held the pipe is still there");
        assert!(!ends(&other, 0), "somebody else was killed");
        rustix::process::kill_process(other.pid, rustix::process::Signal::KILL).unwrap();
        for child in [held, other] {
            waitid(WaitId::PidFd(child.pidfd.as_fd()), WaitIdOptions::EXITED).unwrap();
        }
    }

    #[test]
    fn who_may_end_by_itself_does_and_others_are_asked_and_killed_at_last() {
        let reads = "trap 'exit 4' TERM; cat; ";
        let stories = [
            (format!("{reads} sleep 0.3; exit 3"), Some(3)),
            (format!("{reads} while :; do sleep 0.1; done"), Some(4)),
            ("trap '' TERM; cat; while :; do sleep 0.1; done".to_owned(), None),
        ];
        for (script, code) in stories {
            let mut child = started(&script);
            let guardian = Guardian::start("nobody", None, Manner::Patient).unwrap();
            guardian.tell(&Tether::of(&child));

            drop((guardian, child.input.take()));

            assert!(ends(&child, 30), "{script}");
            let how = waitid(WaitId::PidFd(child.pidfd.as_fd()), WaitIdOptions::EXITED).unwrap();
            assert_eq!(how.and_then(|how| how.exit_status()), code, "{script}");
        }
    }
}
