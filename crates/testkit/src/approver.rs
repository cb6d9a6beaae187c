//! Somebody who answers questions as the test says, and remembers what was asked.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant};

use crate::{Latch, lock};

/// Answers every question the same way.
pub struct ScriptedApprover {
    how: How,
    asked: Mutex<Vec<ApprovalRequest>>,
}

enum How {
    At(Answer),
    When(Arc<Latch>, Answer),
    Panics,
}

impl ScriptedApprover {
    /// Says yes.
    pub fn agrees() -> Arc<Self> {
        Self::new(How::At(Answer::Approved(Grant::Once)))
    }

    /// Says no, in these words.
    pub fn refuses(why: &str) -> Arc<Self> {
        Self::new(How::At(Answer::Refused { by: "ann".to_owned(), why: why.to_owned() }))
    }

    /// Says yes once the latch is open.
    pub fn agrees_after(latch: &Arc<Latch>) -> Arc<Self> {
        Self::new(How::When(Arc::clone(latch), Answer::Approved(Grant::Once)))
    }

    /// Answers like this.
    pub fn says(answer: Answer) -> Arc<Self> {
        Self::new(How::At(answer))
    }

    /// Breaks before it answers, without ever becoming a future.
    pub fn panics() -> Arc<Self> {
        Self::new(How::Panics)
    }

    fn new(how: How) -> Arc<Self> {
        Arc::new(Self { how, asked: Mutex::default() })
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<ApprovalRequest> {
        lock(&self.asked).clone()
    }
}

impl Approver for ScriptedApprover {
    #[expect(clippy::panic, reason = "an approver that breaks is one of the things to be tested")]
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        lock(&self.asked).push(request.clone());
        match &self.how {
            How::At(answer) => Box::pin(std::future::ready(answer.clone())),
            How::When(latch, answer) => Box::pin(async move {
                latch.wait().await;
                answer.clone()
            }),
            How::Panics => panic!("the approver broke"),
        }
    }
}
