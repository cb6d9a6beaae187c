//! Answers the helpers that `sudo` starts, one connection each.
//!
//! A helper sends one byte together with the pipe, says whether somebody may be asked, lets go of the
//! pipe, sends what `sudo` asks and closes its side. It gets back `+`, or `-` and why not.

use std::io::{self, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::host::Host;
use hermes_core::sudo::{PATIENCE, Password, SudoAsker, SudoQuestion};
use hermes_core::wait::wait;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, sockopt};

use super::Asks;
use super::answers::{Answers, Next, Source};
use super::origin::{self, From};
use super::pipe;

/// What a helper may ask at most.
const LONGEST_PROMPT: u64 = 4096;

/// How long a helper may take to say what it wants.
const HELLO: Duration = Duration::from_secs(5);

/// How often it is looked whether the helper is still there.
const LOOK: Duration = Duration::from_millis(200);

/// The first byte: whether a person may be asked.
pub(super) const MAY_ASK: u8 = b'?';
pub(super) const ASKS_NOBODY: u8 = b'.';

/// The answer.
pub(super) const DONE: u8 = b'+';
pub(super) const REFUSED: u8 = b'-';

/// Answers until it is dropped.
pub(super) struct Open {
    over: Arc<OwnedFd>,
}

/// What all connections share.
struct Desk {
    answers: Mutex<Answers>,
    /// One question at a time.
    asking: Mutex<()>,
    asker: Option<Arc<dyn SudoAsker>>,
    host: Arc<dyn Host>,
}

/// What a helper wants.
struct Wish {
    helper: i32,
    asks: Asks,
    pipe: OwnedFd,
    prompt: Vec<u8>,
}

pub(super) fn open(
    listener: UnixListener,
    configured: Option<Password>,
    asker: Option<Arc<dyn SudoAsker>>,
    host: &Arc<dyn Host>,
) -> io::Result<Open> {
    let over = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let answers = Mutex::new(Answers::new(configured, asker.is_some()));
    let desk = Arc::new(Desk { answers, asking: Mutex::default(), asker, host: Arc::clone(host) });
    let until = Arc::clone(&over);
    host.run_blocking(Box::new(move || serve(&desk, &listener, &until)));
    Ok(Open { over })
}

impl Drop for Open {
    fn drop(&mut self) {
        // A full counter wakes just as well.
        let _ = rustix::io::write(&self.over, &1_u64.to_ne_bytes());
    }
}

fn serve(desk: &Arc<Desk>, listener: &UnixListener, over: &OwnedFd) {
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(over.as_fd(), PollFlags::IN),
        ];
        // An interrupted wait is followed by the next.
        let _ = poll(&mut fds, None);
        let [comes, ends] = fds.map(|fd| !fd.revents().is_empty());
        if ends {
            return;
        }
        if comes && let Ok((line, _)) = listener.accept() {
            let at = Arc::clone(desk);
            desk.host.run_blocking(Box::new(move || at.meet(line)));
        }
    }
}

impl Desk {
    fn meet(&self, mut line: UnixStream) {
        let answer = match hear(&mut line).and_then(|wish| self.grant(&wish, &line)) {
            Ok(()) => vec![DONE],
            Err(why) => [&[REFUSED], why.as_bytes()].concat(),
        };
        // A helper that has gone needs no answer.
        let _ = line.write_all(&answer);
    }

    /// Sees to it that `sudo` gets its password, or says why not.
    fn grant(&self, wish: &Wish, line: &UnixStream) -> Result<(), String> {
        let from = self.checked(wish)?;
        self.answers().asked(from, &wish.prompt);
        let next = self.answers().next(from, wish.asks);
        let (password, source) = match next {
            Next::Give(password, source) => (password, source),
            Next::Refuse(why) => return Err(why),
            Next::Ask { .. } => self.ask(wish, from, line)?,
        };
        // It may have taken a while.
        if self.checked(wish)? != from {
            return Err("another process asks now".to_owned());
        }
        self.answers().gave(from, &wish.prompt, &password, source);
        pipe::deliver(&wish.pipe, &password).map_err(|error| format!("sudo does not read it: {error}"))
    }

    /// Whom the password would go to; the person hears of everybody else who asks.
    fn checked(&self, wish: &Wish) -> Result<From, String> {
        let checked = origin::of_helper(wish.helper)
            .and_then(|from| pipe::check(&wish.pipe, from.sudo.pid).map(|()| from));
        if let (Err(why), Some(asker)) = (&checked, &self.asker) {
            asker.warn(&format!("a request for the sudo password was refused: {why}"));
        }
        checked
    }

    fn ask(&self, wish: &Wish, from: From, line: &UnixStream) -> Result<(Password, Source), String> {
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        // While others were asked for, the answer may have come.
        let next = self.answers().next(from, wish.asks);
        let again = match next {
            Next::Give(password, source) => return Ok((password, source)),
            Next::Refuse(why) => return Err(why),
            Next::Ask { again } => again,
        };
        let asker = self.asker.as_ref().ok_or("nobody can be asked")?;
        let question = SudoQuestion {
            command: origin::command_line(from.sudo),
            prompt: String::from_utf8_lossy(&wish.prompt).trim().to_owned(),
            again,
            patience: PATIENCE,
        };
        let until = self.host.now() + PATIENCE;
        let mut typing = asker.password(question);
        let typed = wait(async {
            loop {
                match select(typing, self.host.sleep(LOOK)).await {
                    Either::Left((typed, _)) => return Ok(typed),
                    Either::Right(_) if is_gone(line) => return Err("the command has ended".to_owned()),
                    Either::Right(_) if self.host.now() >= until => return Ok(None),
                    Either::Right(((), still)) => typing = still,
                }
            }
        });
        if let Some(password) = typed? {
            return Ok((password, Source::Person));
        }
        self.answers().declined(from);
        Err("no password was given".to_owned())
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears what a helper wants; it has let go of its pipe when this is known.
fn hear(line: &mut UnixStream) -> Result<Wish, String> {
    let unheard = |error: io::Error| format!("the helper was not understood: {error}");
    line.set_read_timeout(Some(HELLO)).map_err(unheard)?;
    let peer = sockopt::socket_peercred(&*line).map_err(|error| unheard(error.into()))?;
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    recvmsg(&*line, &mut [IoSliceMut::new(&mut first)], &mut rights, RecvFlags::CMSG_CLOEXEC)
        .map_err(|error| unheard(error.into()))?;
    let handed = rights.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut pipes) => pipes.next(),
        _ => None,
    });
    let pipe = handed.ok_or("the helper brought no pipe")?;
    let asks = match first {
        [MAY_ASK] => Asks::ThePerson,
        _ => Asks::Nobody,
    };
    let mut prompt = Vec::new();
    line.take(LONGEST_PROMPT).read_to_end(&mut prompt).map_err(unheard)?;
    Ok(Wish { helper: peer.pid.as_raw_nonzero().get(), asks, pipe, prompt })
}

/// Whether the helper has ended: it closed one side long ago, now the other is closed as well.
fn is_gone(line: &UnixStream) -> bool {
    let mut fds = [PollFd::new(line, PollFlags::empty())];
    let looked = poll(&mut fds, Some(&Timespec::default()));
    let [fd] = fds;
    looked.is_ok() && fd.revents().intersects(PollFlags::HUP | PollFlags::ERR)
}
