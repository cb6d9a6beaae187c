//! Asking the person for the password of `sudo`: at the terminal, or through the screen of the chat.

#![expect(
    clippy::disallowed_methods,
    reason = "the person is reached through their terminal, on a thread that may wait for them"
)]

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::channel::mpsc::UnboundedSender;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use hermes::core::sudo::{Password, SudoAsker, SudoQuestion, wipe};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::chat::happening::Happening;
use crate::output;
use crate::table::on_one_line;

/// How often it is looked whether the question still stands.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Longest line that is taken from the terminal.
const LONGEST: usize = 4096;

/// What the person is told before they type.
pub(crate) fn card(question: &SudoQuestion) -> Vec<String> {
    let mut lines = Vec::new();
    if question.again {
        lines.push("The password was not accepted.".to_owned());
    }
    lines.push("sudo asks for your password, to run:".to_owned());
    lines.push(format!("    {}", on_one_line(&question.command)));
    lines
}

/// Asks at the terminal this process was started from.
pub(crate) struct TerminalSudo;

impl SudoAsker for TerminalSudo {
    fn password(&self, question: SudoQuestion) -> BoxFuture<'_, Option<Password>> {
        let taken_back = TakenBack::default();
        let seen = Arc::clone(&taken_back.0);
        let (answer, wait) = oneshot::channel();
        // A thread of its own: the question can outlive whoever asked it by a moment.
        std::thread::spawn(move || {
            // Whoever took the question back does not wait for the answer.
            let _ = answer.send(at_terminal(&question, &seen).ok().flatten());
        });
        Box::pin(async move {
            let _taken_back = taken_back;
            wait.await.ok().flatten()
        })
    }

    fn warn(&self, what: &str) {
        output::warn(what);
    }
}

/// Set when nobody waits for the answer any more.
#[derive(Default)]
pub(super) struct TakenBack(pub(super) Arc<AtomicBool>);

impl Drop for TakenBack {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn at_terminal(question: &SudoQuestion, taken_back: &AtomicBool) -> io::Result<Option<Password>> {
    let mut screen = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    writeln!(screen, "\n{}", card(question).join("\n"))?;
    write!(screen, "{} (not shown; nothing means no) ", on_one_line(&question.prompt))?;
    screen.flush()?;
    let before = tcgetattr(&screen)?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&screen, OptionalActions::Flush, &quiet)?;
    let typed = line(&mut screen, question.patience, taken_back);
    let restored = tcsetattr(&screen, OptionalActions::Now, &before);
    writeln!(screen)?;
    restored?;
    typed
}

/// The line that is typed, unless it takes too long or is no longer wanted.
fn line(keys: &mut File, patience: Duration, taken_back: &AtomicBool) -> io::Result<Option<Password>> {
    if !line_comes(keys, patience, taken_back) {
        return Ok(None);
    }
    let mut typed = [0; LONGEST];
    let length = keys.read(&mut typed)?;
    let text = typed.get(..length).unwrap_or_default();
    let password = Password::new(text.strip_suffix(b"\n").unwrap_or(text));
    wipe(&mut typed);
    Ok(password)
}

/// Waits for a line to be typed, unless it takes too long or is no longer wanted.
pub(super) fn line_comes(keys: &File, patience: Duration, taken_back: &AtomicBool) -> bool {
    for _ in 0..patience.as_millis() / 100 {
        if taken_back.load(Ordering::Relaxed) {
            return false;
        }
        let mut wanted = [PollFd::new(keys, PollFlags::IN)];
        if poll(&mut wanted, Some(&LOOK)).is_ok_and(|ready| ready > 0) {
            return true;
        }
    }
    false
}

/// Asks through the screen of the chat.
pub(crate) struct ScreenSudo {
    pub(crate) queue: UnboundedSender<Happening>,
}

impl SudoAsker for ScreenSudo {
    fn password(&self, question: SudoQuestion) -> BoxFuture<'_, Option<Password>> {
        let (answer, wait) = oneshot::channel();
        let asked = self.queue.unbounded_send(Happening::Password(Box::new(question), answer));
        Box::pin(async move {
            asked.ok()?;
            wait.await.ok().flatten()
        })
    }

    fn warn(&self, what: &str) {
        // A chat that was left needs no warning.
        let _ = self.queue.unbounded_send(Happening::Warning(what.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_sees_what_is_to_run_and_no_letter_of_it_moves_the_cursor() {
        let question = SudoQuestion {
            command: "sudo apt \u{1b}[2Jinstall".to_owned(),
            prompt: "[sudo] password for ann:".to_owned(),
            again: true,
            patience: Duration::from_mins(1),
        };

        let card = card(&question).join("\n");

        assert!(card.contains("not accepted") && card.contains("sudo apt"), "{card}");
        assert!(!card.contains('\u{1b}'), "{card}");
    }

    #[test]
    fn a_question_that_was_taken_back_reads_nothing() {
        let (_theirs, ours) = rustix::pipe::pipe().map(|(read, write)| (write, File::from(read))).unwrap();
        let mut ours = ours;
        let taken_back = AtomicBool::new(true);

        let typed = line(&mut ours, Duration::from_secs(5), &taken_back).unwrap();

        assert_eq!(typed, None);
    }

    #[test]
    fn a_typed_line_is_taken_without_its_end_and_an_empty_one_is_none() {
        for (typed, expected) in [(&b"s3cret\n"[..], Password::new("s3cret")), (b"\n", None)] {
            let (read, write) = rustix::pipe::pipe().unwrap();
            rustix::io::write(&write, typed).unwrap();

            let heard = line(&mut File::from(read), Duration::from_secs(5), &AtomicBool::new(false)).unwrap();

            assert_eq!(heard, expected);
        }
    }
}
