//! Steps 4 and 9: hooks have a say, and their failures are contained.

use std::borrow::Cow;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{BoxFuture, join};
use hermes_core::error::ToolError;
use hermes_core::hook::{Before, CallView, Hook, HookFailure};
use hermes_core::outcome::{Attachment, Status};
use hermes_core::policy::{Answer, Reason, Verdict};
use hermes_core::road::{Redact, RoadLimits};
use hermes_core::shape::cap::Limits;
use hermes_core::tool::{Reply, ToolEntry};
use hermes_testkit::{MemorySpill, RecordingHook, Rig, RigBuilder, ScriptedApprover, echo, object, tool};
use serde_json::{Value, json};

use crate::{error, json};

fn rig(hook: RecordingHook) -> (RigBuilder, Arc<RecordingHook>) {
    let hook = Arc::new(hook);
    (Rig::builder().tool(echo("echo")).hook(hook.clone()), hook)
}

pub(crate) fn fails() -> HookFailure {
    HookFailure("no connection".to_owned())
}

#[test]
fn hooks_run_in_order_before_transform_and_after() {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let hook = |name: &str, order| Arc::new(RecordingHook::named(name).order(order).log(&log));
    let rig =
        Rig::builder().tool(echo("echo")).hook(hook("b", 1)).hook(hook("a", 0)).hook(hook("c", 1)).build();

    rig.call_now("echo", "{}");

    let expected = [
        "before a",
        "before b",
        "before c",
        "transform a",
        "transform b",
        "transform c",
        "after a",
        "after b",
        "after c",
    ];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn a_hook_hears_only_of_the_tools_it_wants() {
    let (rig, hook) = rig(RecordingHook::named("h").only("other"));

    rig.build().call_now("echo", "{}");

    assert_eq!((hook.seen().len(), hook.ends().len()), (0, 0));
}

#[test]
fn a_hook_that_cannot_say_what_it_wants_is_asked() {
    struct Undecided;
    impl Hook for Undecided {
        fn name(&self) -> &'static str {
            "undecided"
        }
        fn wants(&self, _: &str) -> bool {
            panic!("who knows")
        }
        fn before<'a>(&'a self, _: &'a CallView) -> BoxFuture<'a, Result<Before, HookFailure>> {
            Box::pin(ready(Ok(Before::Block { message: "asked".into() })))
        }
    }

    let outcome = Rig::builder().tool(echo("echo")).hook(Arc::new(Undecided)).build().call_now("echo", "{}");

    assert_eq!(error(&outcome), "denied by undecided: asked");
}

#[test]
fn a_block_ends_the_call_with_its_message_and_later_hooks_are_not_asked() {
    let blocks = RecordingHook::named("gatekeeper")
        .order(-1)
        .before(|_| ready(Ok(Before::Block { message: "not today".into() })));
    let (rig, first) = rig(blocks);
    let second = Arc::new(RecordingHook::named("later"));
    let rig = rig.hook(second.clone()).build();

    let outcome = rig.call_now("echo", "{}");

    assert_eq!(
        (outcome.status, error(&outcome).as_str()),
        (Status::Denied, "denied by gatekeeper: not today")
    );
    assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
    assert_eq!((first.ends().len(), second.ends().len()), (1, 1), "all hear of the end");
}

#[test]
fn rewritten_arguments_are_coerced_and_checked_again() {
    let rewrite = |arguments: Value| {
        let hook = Arc::new(RecordingHook::named("h").before(move |_| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            ready(Ok(Before::Rewrite(arguments)))
        }));
        let later = Arc::new(RecordingHook::named("later").order(1));
        let definition = object(&json!({ "n!": { "type": "integer" } }));
        let tool = ToolEntry::from_fn(
            "t",
            "test",
            definition,
            |_, _| vec![],
            |arguments, _| async move { Ok(Value::Object(arguments)) },
        );
        let outcome = Rig::builder()
            .tool(tool.trusted())
            .hook(hook)
            .hook(later.clone())
            .build()
            .call_now("t", r#"{"n": 1}"#);
        (outcome, later)
    };

    let (good, later) = rewrite(json!({ "n": "7" }));
    let (bad, _) = rewrite(json!({ "n": "seven" }));

    assert_eq!(json(&good), json!({ "n": 7 }));
    assert_eq!(later.seen()[0].arguments["n"], 7, "the next hook sees what the one before it made");
    assert_eq!(bad.status, Status::Invalid);
}

#[test]
fn a_hook_may_ask_and_the_approver_decides() {
    let asks = || {
        RecordingHook::named("careful")
            .before(|_| ready(Ok(Before::Ask { message: "really?".into(), arguments: None })))
    };
    let (yes, no) = (ScriptedApprover::agrees(), ScriptedApprover::refuses("no way"));

    let agreed = rig(asks()).0.approver(yes.clone()).build().call_now("echo", r#"{"a": 1}"#);
    let refused = rig(asks()).0.approver(no).build().call_now("echo", "{}");
    let nobody = rig(asks()).0.build().call_now("echo", "{}");

    assert_eq!(agreed.status, Status::Ok);
    let question = &yes.asked()[0];
    assert_eq!((question.reason.rule.as_str(), question.reason.why.as_str()), ("careful", "really?"));
    assert_eq!((question.arguments.as_str(), question.call.as_str()), (r#"{"a":1}"#, "s.1"));
    assert_eq!((refused.status, error(&refused).as_str()), (Status::Denied, "denied by ann: no way"));
    assert_eq!(error(&nobody), "denied by careful: really?; it needs approval and nobody can be asked here");
}

#[test]
fn whoever_is_asked_sees_the_arguments_that_the_hook_wants_instead() {
    let asks = RecordingHook::named("careful").before(|_| {
        let arguments = json!({ "a": 2 }).as_object().cloned();
        ready(Ok(Before::Ask { message: "really?".into(), arguments }))
    });
    let yes = ScriptedApprover::agrees();

    let agreed = rig(asks).0.approver(yes.clone()).build().call_now("echo", r#"{"a": 1}"#);

    assert_eq!(yes.asked()[0].arguments, r#"{"a":2}"#);
    assert_eq!(json(&agreed), json!({ "a": 2 }));
}

fn failing(name: &str) -> [RecordingHook; 4] {
    [
        RecordingHook::named(name).before(|_| ready(Err(fails()))),
        RecordingHook::named(name).before(|_| async { panic!("later") }),
        RecordingHook::named(name)
            .before(|_| -> std::future::Ready<Result<Before, HookFailure>> { panic!("at once") }),
        RecordingHook::named(name).before(|_| pending()),
    ]
}

#[test]
fn a_policy_hook_that_fails_panics_or_hangs_denies_the_call() {
    let why = ["no connection", "it panicked", "it panicked", "no answer within 10 s"];
    for (hook, why) in failing("strict").into_iter().zip(why) {
        let rig = rig(hook.policy()).0.build();

        let (outcome, ()) = block_on(join(rig.call("echo", "{}"), async {
            if why.starts_with("no answer") {
                rig.host.pass(Duration::from_secs(10)).await;
            }
        }));

        assert_eq!(outcome.status, Status::Denied);
        assert_eq!(
            error(&outcome),
            format!("denied by strict: the policy hook failed ({why}), so the call is not run")
        );
    }
}

#[test]
fn a_plain_hook_that_fails_panics_or_hangs_is_noted_and_passed_over() {
    let why = ["no connection", "it panicked", "it panicked", "no answer within 10 s"];
    for (hook, why) in failing("observer").into_iter().zip(why) {
        let rig = rig(hook).0.build();

        let (outcome, ()) = block_on(join(rig.call("echo", "{}"), async {
            if why.starts_with("no answer") {
                rig.host.pass(Duration::from_secs(10)).await;
            }
        }));

        assert_eq!((outcome.status, outcome.notes), (Status::Ok, vec![format!("hook observer: {why}")]));
    }
}

#[test]
fn a_hook_that_hangs_does_not_outlive_a_cancellation() {
    let rig = rig(RecordingHook::named("slow").policy().before(|_| pending())).0.build();

    let (outcome, ()) = block_on(join(rig.call("echo", "{}"), async {
        rig.host.until_sleeping(Duration::from_secs(10)).await;
        rig.session.cancel();
    }));

    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(rig.host.sleepers(), 0);
}

#[test]
fn a_transform_changes_what_the_model_reads_one_after_the_other() {
    let first = RecordingHook::named("a").transform(|end| {
        let result = end.result.clone();
        ready(Ok(Some(json!({ "wrapped": result }))))
    });
    let second = Arc::new(RecordingHook::named("b").order(1).transform(|end| {
        let result = end.result.clone();
        ready(Ok(Some(json!([result]))))
    }));
    let rig = rig(first).0.hook(second.clone()).build();

    let outcome = rig.call_now("echo", r#"{"x": 1}"#);

    assert_eq!(json(&outcome), json!([{ "wrapped": { "x": 1 } }]));
    assert_eq!(
        second.ends()[0].result,
        json!([{ "wrapped": { "x": 1 } }]),
        "observers see what the model reads"
    );
}

struct Starred;

impl Redact for Starred {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains("hunter2") {
            Cow::Owned(text.replace("hunter2", "***"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

#[test]
fn no_transform_gets_around_redaction_or_the_limit_on_size() {
    let spill = MemorySpill::new();
    let leaks = RecordingHook::named("h")
        .transform(|_| ready(Ok(Some(json!({ "text": format!("hunter2 {}", "x".repeat(2000)) })))));
    let results = Limits { per_result: 1000, per_turn: 10_000, preview: 50 };
    let rig = rig(leaks)
        .0
        .redact(Arc::new(Starred))
        .spill(spill.clone())
        .limits(RoadLimits { results, ..RoadLimits::default() })
        .build();

    let outcome = rig.call_now("echo", "{}");

    assert!(!outcome.body.contains("hunter2") && outcome.body.chars().count() <= 1000, "{}", outcome.body);
    assert_eq!(outcome.spilled.as_deref(), Some(std::path::Path::new("/spill/s/s.1.txt")));
    assert!(spill.kept()[0].1.starts_with("*** xxx"));
}

#[test]
fn hooks_see_results_without_secrets() {
    let (rig, hook) = rig(RecordingHook::named("h"));

    rig.redact(Arc::new(Starred)).build().call_now("echo", r#"{"password": "hunter2"}"#);

    assert_eq!(hook.ends()[0].result, json!({ "password": "***" }));
}

#[test]
fn what_is_noted_of_a_hook_that_fails_has_no_secrets_in_it() {
    let fails = RecordingHook::named("h").before(|_| ready(Err(HookFailure("no key hunter2".to_owned()))));

    let outcome = rig(fails).0.redact(Arc::new(Starred)).build().call_now("echo", "{}");

    assert!(outcome.notes.concat().contains("no key ***"), "{:?}", outcome.notes);
}

#[test]
fn a_result_is_withheld_when_a_policy_transform_fails() {
    let transforms = [
        RecordingHook::named("cleaner").transform(|_| ready(Err(fails()))),
        RecordingHook::named("cleaner")
            .transform(|_| -> std::future::Ready<Result<Option<Value>, HookFailure>> { panic!("no") }),
    ];
    let why = ["no connection", "it panicked"];
    for (hook, why) in transforms.into_iter().zip(why) {
        let outcome = rig(hook.policy()).0.build().call_now("echo", r#"{"secret": 1}"#);

        assert_eq!(
            error(&outcome),
            format!("the result is withheld: the policy hook cleaner failed ({why})")
        );
        assert!(!outcome.body.contains("secret"));
        assert_eq!(outcome.status, Status::Withheld);
    }
}

#[test]
fn what_went_wrong_before_a_result_was_withheld_stays_what_it_is() {
    let fails_too = tool("fails_too", |_, _| async { Err::<Value, _>(ToolError::Failed("no".to_owned())) });
    let hook = Arc::new(RecordingHook::named("cleaner").transform(|_| ready(Err(fails()))).policy());
    let rig = Rig::builder().tool(fails_too).hook(hook.clone()).build();

    let outcome = rig.call_now("fails_too", "{}");

    assert_eq!((outcome.status, hook.ends()[0].status), (Status::Failed, Status::Failed));
}

#[test]
fn pictures_are_withheld_with_the_result_they_came_with_and_observers_hear_of_it() {
    let draws = tool("draws", |_, _| async {
        let picture =
            Attachment { media_type: "image/png".to_owned(), name: "p".to_owned(), bytes: Arc::from(*b"p") };
        Ok(Reply::Attached(json!({}), vec![picture]))
    });
    let hook = Arc::new(RecordingHook::named("cleaner").transform(|_| ready(Err(fails()))).policy());
    let rig = Rig::builder().tool(draws).hook(hook.clone()).build();

    let outcome = rig.call_now("draws", "{}");

    assert_eq!((outcome.attachments, hook.ends()[0].status), (Vec::new(), Status::Withheld));
}

#[test]
fn a_plain_transform_or_observer_that_breaks_leaves_the_result_and_a_note() {
    let hook = RecordingHook::named("h")
        .transform(|_| ready(Err(fails())))
        .after(|_| -> std::future::Ready<()> { panic!("no") });

    let outcome = rig(hook).0.build().call_now("echo", r#"{"x": 1}"#);

    assert_eq!(json(&outcome), json!({ "x": 1 }));
    assert_eq!(outcome.notes, ["hook h: no connection", "hook h: it panicked"]);
}

#[test]
fn a_transform_that_hangs_is_left_when_the_call_is_stopped() {
    let hangs = || RecordingHook::named("cleaner").transform(|_| pending());
    for (hook, read) in [
        (hangs(), json!({ "x": 1 })),
        (
            hangs().policy(),
            json!({ "error": "the result is withheld: the policy hook cleaner failed (it was stopped)" }),
        ),
    ] {
        let rig = rig(hook).0.build();

        let outcome = block_on(async {
            let call = rig.call("echo", r#"{"x": 1}"#);
            let stop = async {
                // First the deadline of the hook, then what it gets once the call is stopped.
                rig.host.until_sleeping(Duration::from_secs(10)).await;
                rig.session.cancel();
                rig.host.pass(Duration::from_secs(1)).await;
            };
            join(call, stop).await.0
        });

        assert_eq!(json(&outcome), read);
    }
}

#[test]
fn observers_hear_how_a_broken_call_ended() {
    let hook = Arc::new(RecordingHook::named("h"));
    let broken = tool("broken", |_, _| async { if true { panic!("oops") } else { Ok(json!({})) } });
    let rig = Rig::builder().tool(broken).hook(hook.clone()).build();

    rig.call_now("broken", "{}");

    assert_eq!(hook.ends()[0].status, Status::Broken);
}

#[test]
fn a_hook_sees_the_call_again_after_somebody_changed_it() {
    let hook = Arc::new(RecordingHook::named("no b").policy().before(|call| {
        let block = call.arguments.get("x") == Some(&json!("b"));
        ready(Ok(if block { Before::Block { message: "not b".to_owned() } } else { Before::Continue }))
    }));
    let changed = json!({ "x": "b" }).as_object().cloned().unwrap_or_default();
    let asks = hermes_testkit::judged(|_| Verdict::Ask(Reason::new("rule", "it asks")));
    let rig = Rig::builder()
        .tool(echo("echo"))
        .hook(hook.clone())
        .policy(asks)
        .approver(ScriptedApprover::says(Answer::Edited(changed)))
        .build();

    let outcome = rig.call_now("echo", r#"{"x": "a"}"#);

    assert_eq!(error(&outcome), "denied by no b: not b");
    assert_eq!(hook.seen().len(), 2);
}

#[test]
fn the_mark_on_strangers_words_is_put_on_once_and_outermost() {
    let words = "a long text from somebody we do not know at all";
    let stranger = ToolEntry::from_fn(
        "stranger",
        "tests",
        hermes_testkit::any_object(),
        |_, _| Vec::new(),
        move |_, _| async move { Ok(json!({ "text": words })) },
    );
    let hook = Arc::new(RecordingHook::named("adds").transform(|end| {
        let result = end.result.clone();
        ready(Ok(Some(json!({ "seen": result }))))
    }));
    let rig = Rig::builder().tool(stranger).hook(hook).build();

    let read = json(&rig.call_now("stranger", "{}"));

    assert_eq!(read["untrusted"], true);
    assert_eq!(read["data"], json!({ "seen": { "text": words } }));
}
