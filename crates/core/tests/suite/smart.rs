//! A second model may approve what is of little risk, and nothing else.

use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, join};
use hermes_core::call::CallId;
use hermes_core::policy::{Answer, ApprovalRequest, Approver, Grant, Reason};
use hermes_core::smart::{Risk, RiskModel, SmartApprover};
use hermes_testkit::FakeHost;

struct Scripted(fn() -> BoxFuture<'static, Result<Risk, String>>);

impl RiskModel for Scripted {
    fn assess<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Risk, String>> {
        (self.0)()
    }
}

fn request(model_may_answer: bool) -> ApprovalRequest {
    ApprovalRequest {
        call: CallId::from("s.1"),
        session: "s".to_owned(),
        tool: "terminal".to_owned(),
        arguments: "{}".to_owned(),
        digest: 1,
        effects: Vec::new(),
        reason: Reason { model_may_answer, ..Reason::new("rule", "why") },
        expires_after: Duration::from_mins(1),
    }
}

fn person(_: &ApprovalRequest) -> Answer {
    Answer::Refused { by: "person".to_owned(), why: "no".to_owned() }
}

fn asked(model: fn() -> BoxFuture<'static, Result<Risk, String>>, model_may_answer: bool) -> Answer {
    let smart =
        SmartApprover { model: Arc::new(Scripted(model)), person: Arc::new(person), host: FakeHost::new() };
    block_on(smart.ask(&request(model_may_answer)))
}

#[test]
fn low_risk_is_approved_for_this_one_call() {
    assert_eq!(asked(|| Box::pin(ready(Ok(Risk::Low))), true), Answer::Approved(Grant::Once));
}

#[test]
fn doubt_failure_and_panic_mean_that_the_person_is_asked() {
    let no = person(&request(true));

    assert_eq!(asked(|| Box::pin(ready(Ok(Risk::Doubt))), true), no);
    assert_eq!(asked(|| Box::pin(ready(Err("no connection".to_owned()))), true), no);
    assert_eq!(asked(|| panic!("broken"), true), no);
}

#[test]
fn a_model_that_may_not_answer_is_not_asked() {
    assert_eq!(asked(|| Box::pin(ready(Ok(Risk::Low))), false), person(&request(false)));
}

#[test]
fn a_model_that_does_not_answer_leaves_time_for_the_person() {
    let host = FakeHost::new();
    let smart = SmartApprover {
        model: Arc::new(Scripted(|| Box::pin(pending()))),
        person: Arc::new(person),
        host: host.clone(),
    };
    let request = request(true);

    let (answer, ()) =
        block_on(join(smart.ask(&request), async { host.pass(Duration::from_secs(30)).await }));

    assert_eq!(answer, person(&request));
}
