//! A second model that may say yes in a person's place, to what is of little risk.
//!
//! It is asked only about what policy says it may be asked about, can only say yes to the one call
//! it was shown, and has no way of saying no: doubt, failure and silence all mean that the person
//! is asked. What is never allowed does not come here at all, because policy denies it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, Either, select};

use crate::host::Host;
use crate::policy::{Answer, ApprovalRequest, Approver, Grant};

/// Judges how risky a call is.
pub trait RiskModel: Send + Sync {
    /// Looks at one call.
    fn assess<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Risk, String>>;
}

/// How risky a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// It can run without asking anybody.
    Low,
    /// A person should decide.
    Doubt,
}

/// Asks the model first where it may answer, then the person.
pub struct SmartApprover {
    /// The model.
    pub model: Arc<dyn RiskModel>,
    /// Who is asked when the model does not say yes.
    pub person: Arc<dyn Approver>,
    /// For the limit on the model's time.
    pub host: Arc<dyn Host>,
}

/// The model gets half of the time there is for an answer: the person needs some too.
const SHARE: u32 = 2;

impl SmartApprover {
    async fn is_low(&self, request: &ApprovalRequest) -> bool {
        let asked = AssertUnwindSafe(async { self.model.assess(request).await }).catch_unwind();
        let patience = self.host.sleep(request.expires_after / SHARE);
        match select(Box::pin(asked), patience).await {
            Either::Left((Ok(Ok(Risk::Low)), _)) => true,
            Either::Left(_) | Either::Right(_) => false,
        }
    }
}

impl Approver for SmartApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            if request.reason.model_may_answer && self.is_low(request).await {
                return Answer::Approved(Grant::Once);
            }
            self.person.ask(request).await
        })
    }

    fn surface(&self) -> &'static str {
        self.person.surface()
    }
}
