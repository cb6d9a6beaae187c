//! Asking the person at the terminal before something risky runs.
//!
//! `card.rs` writes what is asked, `answer.rs` reads what was typed; both are pure. `sudo.rs` asks for
//! a password, `question.rs` what a server wants to know; `own_words.rs` knows when a person has said it already.
//! Here the terminal is opened, shown the card and waited for. The question never goes to standard output, which belongs to the answer of the command.

#![expect(
    clippy::disallowed_methods,
    reason = "the person is reached through their terminal, not through our streams"
)]

mod answer;
mod card;
mod own_words;
mod question;
mod sudo;

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes::core::host::{self, Host};
use hermes::core::policy::{Answer, ApprovalRequest, Approver};

#[cfg(test)]
pub(crate) use crate::approval::answer::tests;
pub(crate) use crate::approval::answer::{Typed, typed};
pub(crate) use crate::approval::card::{card, explanation};
pub(crate) use crate::approval::own_words::OwnWords;
pub(crate) use crate::approval::question::{TerminalAsker, chosen};
pub(crate) use crate::approval::sudo::{ScreenSudo, TerminalSudo, card as sudo_card};

/// Asks at the terminal this process was started from.
pub(crate) struct TerminalApprover {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) colour: bool,
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        let (shown, colour) = (request.clone(), self.colour);
        Box::pin(async move {
            let asked = host::blocking(&self.host, move || at_terminal(&shown, colour)).await;
            let nobody = |why: &str| Answer::Refused { by: request.reason.rule.clone(), why: why.to_owned() };
            match asked {
                Ok(Ok(answer)) => answer,
                Ok(Err(wrong)) => {
                    nobody(&format!("it needs approval and the terminal cannot be used: {wrong}"))
                }
                Err(lost) => nobody(&lost.to_string()),
            }
        })
    }
}

fn at_terminal(request: &ApprovalRequest, colour: bool) -> std::io::Result<Answer> {
    let mut screen = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let mut keys = BufReader::new(screen.try_clone()?);
    screen.write_all(card(request, colour).as_bytes())?;
    loop {
        screen.write_all(card::prompt(request, colour).as_bytes())?;
        screen.flush()?;
        if !line_comes(keys.get_ref(), request.expires_after) {
            screen.write_all(b"\nNobody answered; it is not run.\n")?;
            return Ok(refused("nobody answered in time"));
        }
        let mut line = String::new();
        if keys.read_line(&mut line)? == 0 {
            return Ok(refused("the terminal was closed"));
        }
        match typed(&line, request) {
            Typed::Answer(answer) => return Ok(answer),
            Typed::Explain => screen.write_all(explanation(request).as_bytes())?,
            Typed::Unclear => screen.write_all(b"Please type one of the letters in brackets.\n")?,
        }
    }
}

fn refused(why: &str) -> Answer {
    Answer::Refused { by: "you".to_owned(), why: why.to_owned() }
}

/// Waits for a line to be typed.
fn line_comes(terminal: &std::fs::File, patience: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut wanted = [PollFd::new(terminal, PollFlags::IN)];
    let time = Timespec::try_from(patience).ok();
    matches!(poll(&mut wanted, time.as_ref()), Ok(ready) if ready > 0)
}
