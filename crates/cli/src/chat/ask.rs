//! Questions while the chat is on the screen, about calls and from the agent itself: they are put into
//! the screen's own queue, so that nothing else is drawn or read while one stands there.

use std::collections::VecDeque;
use std::time::Duration;

use futures::channel::{mpsc::UnboundedSender, oneshot};
use futures::future::BoxFuture;
use hermes::core::clarify::{self, Asker};
use hermes::core::policy::{Answer, ApprovalRequest, Approver, Grant};
use hermes::core::sudo::{Password, SudoQuestion};

use crate::approval::{self, Typed};
use crate::chat::happening::Happening;
use crate::chat::hidden::{Hidden, Typing};
use crate::chat::keys::Key;
use crate::chat::text::{Line, Style};

/// Keys that come this soon after a question were meant for something else.
const SURPRISE: Duration = Duration::from_millis(500);

/// Who has more time than this to answer is not told how much.
const NO_HURRY: Duration = Duration::from_hours(24);

/// Asks through the screen.
pub(crate) struct ScreenApprover {
    pub(crate) queue: UnboundedSender<Happening>,
}

impl Approver for ScreenApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let (answer, wait) = oneshot::channel();
            let asked = self.queue.unbounded_send(Happening::Ask(Box::new(request.clone()), answer));
            match (asked, wait.await) {
                (Ok(()), Ok(answer)) => answer,
                _ => refused("the chat was left"),
            }
        })
    }
}

/// Asks what the agent wants to know, through the screen.
pub(crate) struct ScreenAsker {
    pub(crate) queue: UnboundedSender<Happening>,
}

impl Asker for ScreenAsker {
    fn ask(&self, question: clarify::Question) -> BoxFuture<'_, clarify::Answer> {
        Box::pin(async move {
            let (answer, wait) = oneshot::channel();
            let asked = self.queue.unbounded_send(Happening::Clarify(Box::new(question), answer));
            match (asked, wait.await) {
                (Ok(()), Ok(answer)) => answer,
                _ => clarify::Answer::Nobody,
            }
        })
    }
}

/// The questions that wait, one at a time on the screen.
#[derive(Default)]
pub(crate) struct Questions {
    open: VecDeque<Question>,
}

struct Question {
    asked: Asked,
    /// When it was put on the screen; none while others are before it.
    since: Option<Duration>,
}

/// What is asked, and who waits for the answer.
enum Asked {
    /// Whether a call may run.
    Approval(Box<ApprovalRequest>, oneshot::Sender<Answer>),
    /// What the agent wants to know.
    Clarify(Box<clarify::Question>, oneshot::Sender<clarify::Answer>),
    /// The password of `sudo`, with what of it is typed.
    Password(Box<SudoQuestion>, oneshot::Sender<Option<Password>>, Hidden),
}

impl Questions {
    /// Adds a question about a call.
    pub(crate) fn add(&mut self, request: ApprovalRequest, answer: oneshot::Sender<Answer>) {
        self.open.push_back(Question { asked: Asked::Approval(Box::new(request), answer), since: None });
    }

    /// Adds a question of the agent.
    pub(crate) fn add_clarify(
        &mut self,
        question: Box<clarify::Question>,
        answer: oneshot::Sender<clarify::Answer>,
    ) {
        self.open.push_back(Question { asked: Asked::Clarify(question, answer), since: None });
    }

    /// Adds a question of `sudo`.
    pub(crate) fn add_password(
        &mut self,
        question: Box<SudoQuestion>,
        answer: oneshot::Sender<Option<Password>>,
    ) {
        let asked = Asked::Password(question, answer, Hidden::default());
        self.open.push_back(Question { asked, since: None });
    }

    /// Whether the answer to what stands on the screen must not be shown.
    pub(crate) fn is_hidden(&self) -> bool {
        matches!(self.open.front(), Some(Question { asked: Asked::Password(..), .. }))
    }

    /// Takes a key of an answer that is not shown; what is said about it.
    pub(crate) fn hidden_key(&mut self, key: Key) -> Vec<Line> {
        let Some(Question { asked: Asked::Password(_, _, hidden), .. }) = self.open.front_mut() else {
            return Vec::new();
        };
        match hidden.key(key) {
            Typing::On => Vec::new(),
            Typing::Sent(typed) => self.hand_over(typed),
        }
    }

    /// Whether a question stands on the screen, or should.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the question has only just appeared, or is about to: nobody can have read it.
    pub(crate) fn is_fresh(&self, now: Duration) -> bool {
        let since = self.open.front().and_then(|first| first.since);
        since.is_none_or(|since| now.saturating_sub(since) < SURPRISE)
    }

    /// The card of the next question, when it is its turn to be shown.
    pub(crate) fn next_card(&mut self, now: Duration) -> Vec<Line> {
        let Some(first) = self.open.front_mut().filter(|first| first.since.is_none()) else {
            return Vec::new();
        };
        first.since = Some(now);
        match &first.asked {
            Asked::Approval(request, _) => {
                let card = approval::card(request, false);
                card.lines().enumerate().map(|(at, line)| styled(at, line)).collect()
            }
            Asked::Clarify(question, _) => question_card(question),
            Asked::Password(question, ..) => {
                let card = approval::sudo_card(question);
                card.iter().map(|line| Line::new(line, Style::BOLD.and(Style::YELLOW))).collect()
            }
        }
    }

    /// Before the typed answer.
    pub(crate) fn prompt(&self, now: Duration) -> Line {
        let left = self.open.front().map(|first| first.left(now).as_secs()).unwrap_or_default();
        let words = match self.open.front().map(|first| &first.asked) {
            Some(Asked::Clarify(..)) if left > NO_HURRY.as_secs() => "answer ❯ ".to_owned(),
            Some(Asked::Clarify(..)) => format!("answer ({left} s, then it decides) ❯ "),
            Some(Asked::Password(..)) => format!("password (not shown; {left} s, then no) ❯ "),
            _ => format!("approve? ({left} s, then no) ❯ "),
        };
        Line::new(&words, Style::BOLD.and(Style::YELLOW))
    }

    /// Questions nobody answers any more are closed; what is said about them.
    pub(crate) fn expire(&mut self, now: Duration) -> Vec<Line> {
        self.open.retain(|question| !question.is_gone());
        if self.open.front().is_some_and(|first| first.since.is_some() && first.left(now).is_zero()) {
            return self.give_up(refused("nobody answered in time"), "✗ nobody answered; it is not run");
        }
        Vec::new()
    }

    /// Takes a typed line; what is said about it.
    pub(crate) fn typed(&mut self, line: &str) -> Vec<Line> {
        let Some(first) = self.open.front() else { return Vec::new() };
        let request = match &first.asked {
            Asked::Approval(request, _) => request,
            Asked::Clarify(question, _) => {
                let Some(said) = approval::chosen(line, &question.choices) else { return Vec::new() };
                return self.tell(clarify::Answer::Said(said));
            }
            // Its keys are taken one by one, and never seen here.
            Asked::Password(..) => return Vec::new(),
        };
        match approval::typed(line, request) {
            Typed::Answer(answer) => {
                let said = match &answer {
                    Answer::Approved(Grant::Once) => "✓ approved, this once",
                    Answer::Approved(Grant::Always) => "✓ approved from now on",
                    Answer::Approved(_) => "✓ approved for the rest of the session",
                    Answer::Edited(_) => "✓ the changed command is judged anew",
                    Answer::Refused { .. } => "✗ refused",
                };
                self.close(answer, said)
            }
            Typed::Explain => approval::explanation(request).lines().map(Line::faint).collect(),
            Typed::Unclear => vec![Line::faint("Please type one of the letters in brackets.")],
        }
    }

    /// The person wants none of it.
    pub(crate) fn refuse(&mut self) -> Vec<Line> {
        self.give_up(refused("you said no"), "✗ refused")
    }

    /// Closes the question without an answer of the person.
    fn give_up(&mut self, refused: Answer, said: &str) -> Vec<Line> {
        match self.open.front().map(|first| &first.asked) {
            Some(Asked::Clarify(..)) => self.tell(clarify::Answer::TimedOut),
            Some(Asked::Password(..)) => self.hand_over(None),
            _ => self.close(refused, said),
        }
    }

    /// Hands an answer to the agent.
    fn tell(&mut self, answer: clarify::Answer) -> Vec<Line> {
        if let Some(Question { asked: Asked::Clarify(_, waiting), .. }) = self.open.pop_front() {
            // The call may have been cancelled in the meantime.
            let _ = waiting.send(answer);
        }
        vec![Line::default()]
    }

    /// Hands a password to `sudo`, or none.
    fn hand_over(&mut self, typed: Option<Password>) -> Vec<Line> {
        let said = match &typed {
            Some(_) => Line::new("✓ handed to sudo", Style::GREEN),
            None => Line::new("✗ no password", Style::RED),
        };
        if let Some(Question { asked: Asked::Password(_, waiting, _), .. }) = self.open.pop_front() {
            // The command may have ended in the meantime.
            let _ = waiting.send(typed);
        }
        vec![said, Line::default()]
    }

    /// The turn is over: nobody waits for the rest.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    fn close(&mut self, answer: Answer, said: &str) -> Vec<Line> {
        let Some(first) = self.open.pop_front() else { return Vec::new() };
        if let Asked::Approval(_, waiting) = first.asked {
            // The call may have been cancelled in the meantime.
            let _ = waiting.send(answer);
        }
        let style = if said.starts_with('✓') { Style::GREEN } else { Style::RED };
        vec![Line::new(said, style), Line::default()]
    }
}

impl Question {
    fn left(&self, now: Duration) -> Duration {
        let since = self.since.unwrap_or(now);
        let patience = match &self.asked {
            Asked::Approval(request, _) => request.expires_after,
            Asked::Clarify(question, _) => question.patience.unwrap_or(clarify::USUAL_PATIENCE),
            Asked::Password(question, ..) => question.patience,
        };
        patience.saturating_sub(now.saturating_sub(since))
    }

    /// Whether nobody waits for the answer any more.
    fn is_gone(&self) -> bool {
        match &self.asked {
            Asked::Approval(_, waiting) => waiting.is_canceled(),
            Asked::Clarify(_, waiting) => waiting.is_canceled(),
            Asked::Password(_, waiting, _) => waiting.is_canceled(),
        }
    }
}

/// The agent's question, with its choices by number.
fn question_card(question: &clarify::Question) -> Vec<Line> {
    let asked = question.text.lines().map(|line| Line::new(line, Style::BOLD.and(Style::YELLOW)));
    let choices = question.choices.iter().enumerate();
    let choices = choices.map(|(at, choice)| Line::plain(&format!("  {}  {choice}", at + 1)));
    asked.chain(choices).collect()
}

fn refused(why: &str) -> Answer {
    Answer::Refused { by: "you".to_owned(), why: why.to_owned() }
}

/// A line of the card: its title stands out, and so do the marks below the guilty part.
fn styled(at: usize, line: &str) -> Line {
    let mark = line.contains('^') && line.chars().all(|letter| matches!(letter, ' ' | '^'));
    match at {
        1 => Line::new(line, Style::BOLD.and(Style::YELLOW)),
        _ if mark => Line::new(line, Style::RED),
        _ => Line::plain(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::tests::request;

    fn asked(questions: &mut Questions) -> oneshot::Receiver<Answer> {
        let (answer, wait) = oneshot::channel();
        questions.add(request("rm -rf /srv/data", vec![Grant::Exact]), answer);
        wait
    }

    #[test]
    fn questions_are_shown_one_at_a_time_and_answered() {
        let mut questions = Questions::default();
        let (mut first, mut second) = (asked(&mut questions), asked(&mut questions));

        assert!(
            questions.next_card(Duration::ZERO).iter().any(|line| line.text().contains("rm -rf /srv/data"))
        );
        assert!(questions.next_card(Duration::ZERO).is_empty());
        assert!(
            questions.is_fresh(Duration::from_millis(499)) && !questions.is_fresh(Duration::from_secs(1))
        );
        assert_eq!(questions.prompt(Duration::from_secs(3)).text(), "approve? (57 s, then no) ❯ ");
        assert_eq!(questions.typed("what?")[0].text(), "Please type one of the letters in brackets.");
        questions.typed("s");
        assert_eq!(first.try_recv().unwrap(), Some(Answer::Approved(Grant::Exact)));

        assert!(!questions.next_card(Duration::ZERO).is_empty());
        questions.refuse();
        assert!(matches!(second.try_recv().unwrap(), Some(Answer::Refused { .. })));
        assert!(!questions.is_open());
    }

    #[test]
    fn the_agent_gets_a_choice_by_its_number_or_the_words_that_were_typed() {
        let mut questions = Questions::default();
        let mut ask = || {
            let (answer, wait) = oneshot::channel();
            let choices = vec!["red".to_owned(), "blue".to_owned()];
            let question = clarify::Question { text: "Which?".to_owned(), choices, patience: None };
            questions.add_clarify(Box::new(question), answer);
            let card = questions.next_card(Duration::ZERO);
            assert_eq!(card.iter().map(Line::text).collect::<Vec<_>>(), ["Which?", "  1  red", "  2  blue"]);
            (wait, std::mem::take(&mut questions))
        };
        for (typed, heard) in [("2", "blue"), ("7", "7"), (" green ", "green")] {
            let (mut wait, mut questions) = ask();
            assert!(questions.typed(" ").is_empty() && questions.is_open(), "nothing was said");
            questions.typed(typed);
            assert_eq!(wait.try_recv().unwrap(), Some(clarify::Answer::Said(heard.to_owned())));
        }
        let (mut wait, mut questions) = ask();
        questions.expire(Duration::from_mins(2));
        assert_eq!(wait.try_recv().unwrap(), Some(clarify::Answer::TimedOut));
    }

    #[test]
    fn who_asks_may_say_how_long_the_answer_is_waited_for() {
        let ask = |patience: Option<Duration>| {
            let mut questions = Questions::default();
            let (answer, wait) = oneshot::channel();
            let question = clarify::Question { text: "Which?".to_owned(), choices: Vec::new(), patience };
            questions.add_clarify(Box::new(question), answer);
            questions.next_card(Duration::ZERO);
            (questions, wait)
        };
        let (mut longer, mut wait) = ask(Some(Duration::from_mins(10)));

        assert_eq!(longer.prompt(Duration::ZERO).text(), "answer (600 s, then it decides) ❯ ");
        longer.expire(Duration::from_mins(9));
        assert_eq!(wait.try_recv().unwrap(), None);
        longer.expire(Duration::from_mins(10));
        assert_eq!(wait.try_recv().unwrap(), Some(clarify::Answer::TimedOut));

        let (mut endless, mut wait) = ask(Some(Duration::MAX));
        assert_eq!(endless.prompt(Duration::ZERO).text(), "answer ❯ ");
        endless.expire(Duration::from_hours(99));
        assert_eq!(wait.try_recv().unwrap(), None);
    }

    #[test]
    fn a_password_is_handed_over_and_no_letter_of_it_is_shown() {
        let mut questions = Questions::default();
        let (answer, mut wait) = oneshot::channel();
        let question = SudoQuestion {
            command: "sudo id".to_owned(),
            prompt: "[sudo] password for ann:".to_owned(),
            again: false,
            patience: Duration::from_mins(1),
        };
        questions.add_password(Box::new(question), answer);
        let mut shown = questions.next_card(Duration::ZERO);

        for key in "hunter2".chars().map(Key::Char).chain([Key::Enter]) {
            assert!(questions.is_hidden());
            shown.push(questions.prompt(Duration::ZERO));
            shown.extend(questions.hidden_key(key));
        }

        assert_eq!(wait.try_recv().unwrap(), Some(Password::new("hunter2")));
        let shown: Vec<_> = shown.iter().map(Line::text).collect();
        assert!(shown.iter().any(|line| line.contains("sudo id")), "{shown:?}");
        assert!(!shown.iter().any(|line| line.contains("hunter")), "{shown:?}");
        assert!(!questions.is_open());
    }

    #[test]
    fn silence_is_a_no() {
        let mut questions = Questions::default();
        let mut wait = asked(&mut questions);
        questions.next_card(Duration::ZERO);

        assert!(questions.expire(Duration::from_secs(59)).is_empty());
        assert!(!questions.expire(Duration::from_mins(1)).is_empty());
        assert!(matches!(wait.try_recv().unwrap(), Some(Answer::Refused { .. })));
    }

    #[test]
    fn a_question_whose_call_is_gone_goes_too() {
        let mut questions = Questions::default();
        drop(asked(&mut questions));

        questions.expire(Duration::ZERO);

        assert!(!questions.is_open());
    }
}
