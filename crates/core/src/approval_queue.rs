//! Questions that wait for somebody far away: a chat platform, an editor, a web page.
//!
//! The queue is an approver. Each question stays open until it is answered, expires or is taken
//! back with its call; an answer must name the digest of what it was shown, so that a late or
//! forged one cannot approve something else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::call::CallId;
use crate::policy::{Answer, ApprovalRequest, Approver, Grant};

/// Open questions at most; one more is refused at once.
const MAX_OPEN: usize = 256;

/// Open questions. Clones are the same queue.
#[derive(Clone, Default)]
pub struct ApprovalQueue(Arc<Mutex<Vec<Open>>>);

struct Open {
    request: ApprovalRequest,
    answer: oneshot::Sender<Answer>,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nothing is open for this call: it was answered, expired or taken back.
    #[error("no open question about call {0}")]
    NotOpen(CallId),
    /// The answer is about something else than what is asked.
    #[error("the answer does not match what call {0} asks")]
    OtherContent(CallId),
    /// The question does not offer to reach that far.
    #[error("call {0} cannot be approved that far")]
    TooFar(CallId),
}

impl ApprovalQueue {
    /// The open questions, oldest first.
    pub fn open(&self) -> Vec<ApprovalRequest> {
        self.lock().iter().map(|open| open.request.clone()).collect()
    }

    /// Answers one question; `digest` is that of the request the answer is about.
    pub fn answer(&self, call: &CallId, digest: u64, answer: Answer) -> Result<(), AnswerError> {
        let mut open = self.lock();
        let at = open.iter().position(|open| open.request.call == *call);
        let question = at.and_then(|at| open.get(at)).ok_or_else(|| AnswerError::NotOpen(call.clone()))?;
        if question.request.digest != digest {
            return Err(AnswerError::OtherContent(call.clone()));
        }
        if let Answer::Approved(grant) = &answer
            && *grant != Grant::Once
            && !question.request.reason.grants.contains(grant)
        {
            return Err(AnswerError::TooFar(call.clone()));
        }
        let question = open.remove(at.unwrap_or_default());
        question.answer.send(answer).map_err(|_| AnswerError::NotOpen(call.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the question off the queue when nobody waits for its answer any more.
struct Withdraw<'a> {
    queue: &'a ApprovalQueue,
    call: &'a CallId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.queue.lock().retain(|open| open.request.call != *self.call);
    }
}

impl Approver for ApprovalQueue {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let refused =
                |why: &str| Answer::Refused { by: request.reason.rule.clone(), why: why.to_owned() };
            let (answer, wait) = oneshot::channel();
            {
                let mut open = self.lock();
                if open.len() >= MAX_OPEN {
                    return refused("too many questions are open");
                }
                open.push(Open { request: request.clone(), answer });
            }
            let _withdraw = Withdraw { queue: self, call: &request.call };
            wait.await.unwrap_or_else(|_| refused("the question was taken back"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;
    use crate::policy::Reason;

    fn request(grants: Vec<Grant>) -> ApprovalRequest {
        ApprovalRequest {
            call: CallId::from("s.1"),
            session: "s".to_owned(),
            tool: "terminal".to_owned(),
            arguments: r#"{"command":"make"}"#.to_owned(),
            digest: 7,
            effects: Vec::new(),
            reason: Reason { grants, ..Reason::new("rule", "why") },
            expires_after: Duration::from_mins(1),
        }
    }

    #[test]
    fn an_answer_reaches_the_one_who_asked_and_closes_the_question() {
        let (queue, request) = (ApprovalQueue::default(), request(Vec::new()));
        let mut asked = queue.ask(&request);
        assert!((&mut asked).now_or_never().is_none());
        assert_eq!(queue.open(), std::slice::from_ref(&request));

        queue.answer(&request.call, 7, Answer::Approved(Grant::Once)).unwrap();

        assert_eq!(asked.now_or_never(), Some(Answer::Approved(Grant::Once)));
        assert!(queue.open().is_empty());
    }

    #[test]
    fn an_answer_to_something_else_is_not_taken() {
        let (queue, request) = (ApprovalQueue::default(), request(Vec::new()));
        let mut asked = queue.ask(&request);
        assert!((&mut asked).now_or_never().is_none());

        let other = queue.answer(&request.call, 8, Answer::Approved(Grant::Once));
        let too_far = queue.answer(&request.call, 7, Answer::Approved(Grant::Always));
        let nobody = queue.answer(&CallId::from("s.2"), 7, Answer::Approved(Grant::Once));

        assert_eq!(other, Err(AnswerError::OtherContent(CallId::from("s.1"))));
        assert_eq!(too_far, Err(AnswerError::TooFar(CallId::from("s.1"))));
        assert_eq!(nobody, Err(AnswerError::NotOpen(CallId::from("s.2"))));
        assert_eq!(queue.open().len(), 1);
    }

    #[test]
    fn a_question_that_nobody_waits_for_is_gone() {
        let (queue, request) = (ApprovalQueue::default(), request(Vec::new()));
        let mut asked = queue.ask(&request);
        assert!((&mut asked).now_or_never().is_none());

        drop(asked);

        assert!(queue.open().is_empty());
    }
}
