//! Approvals while the chat is on the screen: the question is put into the screen's own queue, so
//! that nothing else is drawn or read while it stands there.

use std::collections::VecDeque;
use std::time::Duration;

use futures::channel::{mpsc::UnboundedSender, oneshot};
use futures::future::BoxFuture;
use hermes::core::policy::{Answer, ApprovalRequest, Approver, Grant};

use crate::approval::{self, Typed};
use crate::chat::happening::Happening;
use crate::chat::text::{Line, Style};

/// Keys that come this soon after a question were meant for something else.
const SURPRISE: Duration = Duration::from_millis(500);

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

/// The questions that wait, one at a time on the screen.
#[derive(Default)]
pub(crate) struct Questions {
    open: VecDeque<Question>,
}

struct Question {
    request: ApprovalRequest,
    answer: oneshot::Sender<Answer>,
    /// When it was put on the screen; none while others are before it.
    since: Option<Duration>,
}

impl Questions {
    pub(crate) fn add(&mut self, request: ApprovalRequest, answer: oneshot::Sender<Answer>) {
        self.open.push_back(Question { request, answer, since: None });
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
        approval::card(&first.request, false).lines().enumerate().map(|(at, line)| styled(at, line)).collect()
    }

    /// Before the typed answer.
    pub(crate) fn prompt(&self, now: Duration) -> Line {
        let left = self.open.front().map(|first| first.left(now).as_secs()).unwrap_or_default();
        Line::new(&format!("approve? ({left} s, then no) ❯ "), Style::BOLD.and(Style::YELLOW))
    }

    /// Questions nobody answers any more are closed; what is said about them.
    pub(crate) fn expire(&mut self, now: Duration) -> Vec<Line> {
        self.open.retain(|question| !question.answer.is_canceled());
        if self.open.front().is_some_and(|first| first.since.is_some() && first.left(now).is_zero()) {
            return self.close(refused("nobody answered in time"), "✗ nobody answered; it is not run");
        }
        Vec::new()
    }

    /// Takes a typed line; what is said about it.
    pub(crate) fn typed(&mut self, line: &str) -> Vec<Line> {
        let Some(first) = self.open.front() else { return Vec::new() };
        match approval::typed(line, &first.request) {
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
            Typed::Explain => approval::explanation(&first.request).lines().map(Line::faint).collect(),
            Typed::Unclear => vec![Line::faint("Please type one of the letters in brackets.")],
        }
    }

    /// The person wants none of it.
    pub(crate) fn refuse(&mut self) -> Vec<Line> {
        self.close(refused("you said no"), "✗ refused")
    }

    /// The turn is over: nobody waits for the rest.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    fn close(&mut self, answer: Answer, said: &str) -> Vec<Line> {
        let Some(first) = self.open.pop_front() else { return Vec::new() };
        // The call may have been cancelled in the meantime.
        let _ = first.answer.send(answer);
        let style = if said.starts_with('✓') { Style::GREEN } else { Style::RED };
        vec![Line::new(said, style), Line::default()]
    }
}

impl Question {
    fn left(&self, now: Duration) -> Duration {
        let since = self.since.unwrap_or(now);
        self.request.expires_after.saturating_sub(now.saturating_sub(since))
    }
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
