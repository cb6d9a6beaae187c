//! Asking the person at the terminal what somebody wants to know while a call runs: a server that has a form to
//! fill in, a page to visit, or a question for the model.

#![expect(
    clippy::disallowed_methods,
    reason = "the person is reached through their terminal, on a thread that may wait for them"
)]

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::lock::Mutex;
use hermes::core::clarify::{Answer, Asker, Question};

use super::sudo::{TakenBack, line_comes};
use crate::table::{harmless, on_one_line};

/// Asks at the terminal this process was started from, one question at a time.
#[derive(Default)]
pub(crate) struct TerminalAsker {
    turn: Mutex<()>,
}

impl Asker for TerminalAsker {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            let taken_back = TakenBack::default();
            let patience = question.patience.unwrap_or_else(|| self.patience());
            let seen = Arc::clone(&taken_back.0);
            let (answer, wait) = oneshot::channel();
            // A thread of its own: the question can outlive whoever asked it by a moment.
            std::thread::spawn(move || {
                // Whoever took the question back does not wait for the answer.
                let _ = answer.send(at_terminal(&question, patience, &seen).unwrap_or(Answer::Nobody));
            });
            wait.await.unwrap_or(Answer::Nobody)
        })
    }
}

fn at_terminal(question: &Question, patience: Duration, taken_back: &AtomicBool) -> io::Result<Answer> {
    let mut screen = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    screen.write_all(card(question).as_bytes())?;
    screen.flush()?;
    if !line_comes(&screen, patience, taken_back) {
        // Whoever has taken the question back knows why.
        let over = if taken_back.load(Ordering::Relaxed) { "\n" } else { "\nNobody answered.\n" };
        screen.write_all(over.as_bytes())?;
        return Ok(Answer::TimedOut);
    }
    let mut line = String::new();
    if BufReader::new(&screen).read_line(&mut line)? == 0 {
        screen.write_all(b"\n")?;
        return Ok(Answer::Nobody);
    }
    Ok(Answer::Said(chosen(&line, &question.choices).unwrap_or_default()))
}

/// The question with its choices by number, and where the answer goes. Its words are a stranger's.
fn card(question: &Question) -> String {
    let choices = question.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| format!("  {}  {}\n", at + 1, on_one_line(choice)));
    format!("\n{}\n{}answer (Ctrl-D declines) > ", harmless(&question.text), choices.collect::<String>())
}

/// What a typed line means: a choice by its number, or the words themselves; nothing when it is empty.
pub(crate) fn chosen(line: &str, choices: &[String]) -> Option<String> {
    let said = line.trim();
    let by_number = said.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    by_number.cloned().or_else(|| (!said.is_empty()).then(|| said.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_server_do_not_move_the_cursor_and_its_choices_stand_on_lines_of_their_own() {
        let choices = vec!["Accept".to_owned(), "De\ncline".to_owned()];
        let text = "MCP server `s` asks:\u{1b}[2J who?\nname".to_owned();
        let question = Question { text, choices, patience: None };

        assert_eq!(
            card(&question),
            "\nMCP server `s` asks: [2J who?\nname\n  1  Accept\n  2  De cline\nanswer (Ctrl-D declines) > "
        );
    }

    #[test]
    fn an_answer_is_a_choice_by_its_number_or_the_words_themselves() {
        let choices = ["yes".to_owned(), "no".to_owned()];

        assert_eq!(
            ["2\n", "0\n", " maybe \n", "\n"].map(|line| chosen(line, &choices)),
            [Some("no".to_owned()), Some("0".to_owned()), Some("maybe".to_owned()), None,]
        );
    }
}
