//! One program, from start to end: what it is told goes in, what it says comes out, and after its
//! deadline it is stopped. Blocks the thread it runs on.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hermes_core::host::Host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio_util::sync::CancellationToken;

use crate::launch::{Launch, Program};

/// Most bytes of an answer; a longer one is garbage.
const MAX_SAID: usize = 1024 * 1024;
/// Most bytes of complaints that are kept.
const MAX_COMPLAINED: usize = 4 * 1024;
/// How long a wait lasts before the program's end is looked for again.
const SLICE: Duration = Duration::from_millis(25);
/// How long a program may take to end by itself after it was told to.
const GRACE: Duration = Duration::from_millis(200);

/// Why there is no answer when nobody wants one any more.
const STOPPED: &str = "it was stopped";

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What it said.
    pub said: String,
    /// The end of what it complained about.
    pub complained: String,
    /// Whether it ended well.
    pub well: bool,
    /// In words how it ended.
    pub ended: String,
    /// How long it took.
    pub took: Duration,
}

/// Our ends of a program's pipes.
struct Pipes {
    input: Option<File>,
    output: Option<File>,
    errors: Option<File>,
    told: Vec<u8>,
    sent: usize,
    said: Vec<u8>,
    complained: Vec<u8>,
}

/// Runs a program until it ends, its time is over or `stop` fires; an error says in words why there is no
/// answer.
pub fn run(
    launcher: &dyn Launch,
    program: &Program,
    told: Vec<u8>,
    limit: Duration,
    host: &Arc<dyn Host>,
    stop: &CancellationToken,
) -> Result<Ran, String> {
    let began = host.now();
    if stop.is_cancelled() {
        return Err(STOPPED.to_owned());
    }
    let running = launcher.launch(program).map_err(|wrong| wrong.to_string())?;
    let file = |end: OwnedFd| Some(File::from(end));
    let mut pipes = Pipes {
        input: file(running.input),
        output: file(running.output),
        errors: file(running.errors),
        told,
        sent: 0,
        said: Vec::new(),
        complained: Vec::new(),
    };
    let ended = running.keeper.ended().shared();
    loop {
        let left = limit.saturating_sub(host.now().saturating_sub(began));
        if left.is_zero() || stop.is_cancelled() {
            // Dropping the keeper stops it too; this way it is gone before anybody goes on.
            futures::executor::block_on(running.keeper.stop(GRACE));
            let late = || format!("it took longer than {} s and was stopped", limit.as_secs_f64());
            return Err(if left.is_zero() { late() } else { STOPPED.to_owned() });
        }
        // Looked at before reading: what was said before its end is read after it.
        let over = ended.clone().now_or_never();
        if over.is_none() {
            pipes.wait(left.min(SLICE));
        }
        pipes.exchange();
        if pipes.said.len() > MAX_SAID {
            return Err("its answer is too long".to_owned());
        }
        if let Some(ended) = over {
            if pipes.are_held() {
                // It has left others behind: whoever ends next, as a short program does, leaves none of them.
                futures::executor::block_on(running.keeper.stop(Duration::ZERO));
            }
            let took = host.now().saturating_sub(began);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
            let (said, complained) = (text(&pipes.said), text(&pipes.complained));
            return Ok(Ran { said, complained, well: ended.ends_with("exit code 0"), ended, took });
        }
    }
}

impl Pipes {
    /// Waits until a pipe has something for us, or a moment has passed.
    fn wait(&self, time: Duration) {
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(3);
        if let Some(input) = &self.input {
            fds.push(PollFd::from_borrowed_fd(input.as_fd(), PollFlags::OUT));
        }
        for end in [&self.output, &self.errors].into_iter().flatten() {
            fds.push(PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN));
        }
        let nanoseconds = i64::from(time.subsec_nanos());
        let time = Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(1), tv_nsec: nanoseconds };
        // An interrupted wait is a short one.
        let _ = poll(&mut fds, Some(&time));
    }

    /// Whether somebody else holds what the program wrote to, once it has ended.
    fn are_held(&self) -> bool {
        self.output.is_some() || self.errors.is_some()
    }

    /// Sends and takes what can be sent and taken now.
    fn exchange(&mut self) {
        let rest = self.told.get(self.sent..).unwrap_or_default();
        if let Some(input) = &mut self.input {
            let done = match input.write(rest) {
                _ if rest.is_empty() => true,
                Ok(count) => {
                    self.sent += count;
                    self.sent >= self.told.len()
                }
                Err(wrong) => !passing(wrong.kind()),
            };
            // It reads to the end of its input, or does not want to read at all.
            if done {
                self.input = None;
            }
        }
        drain(&mut self.output, &mut self.said, MAX_SAID + 1, End::Stop);
        drain(&mut self.errors, &mut self.complained, MAX_COMPLAINED, End::Forget);
    }
}

/// What is done with more than is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is not read.
    Stop,
    /// It is read and its beginning forgotten.
    Forget,
}

fn drain(pipe: &mut Option<File>, kept: &mut Vec<u8>, most: usize, end: End) {
    let mut piece = [0_u8; 8192];
    while let Some(file) = pipe {
        if end == End::Stop && kept.len() >= most {
            return;
        }
        match file.read(&mut piece) {
            Ok(0) => *pipe = None,
            Ok(count) => {
                kept.extend_from_slice(piece.get(..count).unwrap_or_default());
                if end == End::Forget && kept.len() > most {
                    kept.drain(..kept.len() - most);
                }
            }
            Err(wrong) if wrong.kind() == ErrorKind::Interrupted => {}
            Err(wrong) if wrong.kind() == ErrorKind::WouldBlock => return,
            Err(_) => *pipe = None,
        }
    }
}

fn passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
