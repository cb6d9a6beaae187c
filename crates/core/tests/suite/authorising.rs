//! Steps 5 and 6: effects, verdicts, questions, permits, and the record before anything happens.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::join;
use hermes_core::effect::{Command, Effect};
use hermes_core::files::PageRequest;
use hermes_core::hook::Before;
use hermes_core::outcome::Status;
use hermes_core::policy::{Answer, Careful, Grant, Policy, PolicyRequest, Reason, Verdict};
use hermes_core::session::Place;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{
    Latch, MemoryJournal, Record, RecordingHook, Rig, ScriptedApprover, any_object, judged, object,
};
use serde_json::{Map, Value, json};

use crate::{error, json};

fn reason(why: &str) -> Reason {
    Reason::new("rule 7", why)
}

/// A tool with these effects that says that it ran.
fn effectful(name: &str, effects: Vec<Effect>) -> ToolEntry {
    ToolEntry::from_fn(
        name,
        "test",
        any_object(),
        move |_, _| effects.clone(),
        |_, _| async { Ok(json!({ "ran": true })) },
    )
    .trusted()
}

fn writes() -> ToolEntry {
    effectful("write", vec![Effect::Write("/work/a".into())])
}

#[test]
fn a_verdict_of_allow_runs_deny_does_not_and_says_which_rule() {
    let deny = judged(|_| Verdict::Deny(reason("it writes")));

    let allowed = Rig::with([writes()]).call_now("write", "{}");
    let denied = Rig::builder().tool(writes()).policy(deny).build().call_now("write", "{}");

    assert_eq!(json(&allowed), json!({ "ran": true }));
    assert_eq!(
        (denied.status, denied.body.as_str()),
        (Status::Denied, r#"{"error":"denied by rule 7: it writes"}"#)
    );
}

#[test]
fn a_question_carries_the_exact_arguments_and_effects() {
    let approver = ScriptedApprover::agrees();
    let ask = judged(|_| Verdict::Ask(reason("it writes")));
    let rig = Rig::builder().tool(writes()).policy(ask).approver(approver.clone()).build();

    let outcome = rig.call_now("write", r#"{"b": 1, "a": 2}"#);

    assert_eq!(outcome.status, Status::Ok);
    let asked = &approver.asked()[0];
    assert_eq!(
        (asked.tool.as_str(), asked.session.as_str(), asked.arguments.as_str()),
        ("write", "s", r#"{"b":1,"a":2}"#)
    );
    assert_eq!(
        (asked.effects.clone(), asked.reason.clone()),
        (vec![Effect::Write("/work/a".into())], reason("it writes"))
    );
}

#[test]
fn with_nobody_to_ask_the_answer_is_no_at_once() {
    let rig = Rig::builder().tool(writes()).policy(Careful).build();

    let outcome = rig.call_now("write", "{}");

    assert_eq!(outcome.status, Status::Denied);
    let why = "denied by careful: write writes /work/a; it needs approval and nobody can be asked here";
    assert_eq!(error(&outcome), why);
    assert_eq!(rig.host.sleepers(), 0);
}

#[test]
fn the_careful_policy_lets_calls_look_and_asks_about_the_rest() {
    let command = Command { text: "ls".into(), environment: "local".into(), workdir: "/work".into() };
    let asked = |effects: Vec<Effect>| {
        let approver = ScriptedApprover::agrees();
        let rig =
            Rig::builder().tool(effectful("t", effects)).policy(Careful).approver(approver.clone()).build();
        rig.call_now("t", "{}");
        approver.asked().len()
    };

    assert_eq!(asked(vec![Effect::Read("/a".into()), Effect::ReadSlot("x"), Effect::WriteSlot("x")]), 0);
    assert_eq!(asked(vec![Effect::Read("/a".into()), Effect::Write("/a".into())]), 1);
    assert_eq!(asked(vec![Effect::Exec(command)]), 1);
    assert_eq!(asked(vec![Effect::Connect("a.example".into())]), 1);
    assert_eq!(asked(vec![Effect::Unknown("who knows".into())]), 1);
}

#[test]
fn a_policy_or_approver_that_breaks_denies() {
    let broken = judged(|_| panic!("policy"));
    let ask = judged(|_| Verdict::Ask(reason("it writes")));

    let by_policy = Rig::builder().tool(writes()).policy(broken).build().call_now("write", "{}");
    let by_approver = Rig::builder()
        .tool(writes())
        .policy(ask)
        .approver(ScriptedApprover::panics())
        .build()
        .call_now("write", "{}");

    assert_eq!(
        error(&by_policy),
        "denied by policy: the policy broke while judging this call, so it is not run"
    );
    assert_eq!(error(&by_approver), "denied by rule 7: the approver broke before it answered");
}

#[test]
fn a_question_nobody_answers_is_answered_with_no_after_its_time() {
    let latch = Arc::new(Latch::default());
    let approver = ScriptedApprover::agrees_after(&latch);
    let rig = Rig::builder().tool(writes()).policy(Careful).approver(approver.clone()).build();

    let (outcome, ()) = block_on(join(rig.call("write", "{}"), rig.host.pass(Duration::from_mins(1))));

    assert_eq!(outcome.status, Status::Denied);
    assert_eq!(error(&outcome), "denied by careful: it needs approval and nobody answered in time");
    assert_eq!(approver.asked()[0].expires_after, Duration::from_mins(1));
}

/// Writes to the path it is given; says where.
fn writes_path() -> ToolEntry {
    let effects = |arguments: &Map<String, Value>, place: &Place| {
        vec![Effect::Write(place.resolve(arguments["path"].as_str().unwrap_or_default()))]
    };
    let definition = object(&json!({ "path!": { "type": "string" } }));
    ToolEntry::from_fn("write", "test", definition, effects, |arguments, _| async move {
        Ok(Value::Object(arguments))
    })
    .trusted()
}

#[test]
fn an_edited_call_is_checked_and_judged_anew() {
    let edit = |arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let policy = judged(|request| match &request.effects[0] {
            Effect::Write(path) if path.starts_with("/etc") => Verdict::Deny(reason("system files")),
            Effect::Write(path) if path.starts_with("/tmp") => Verdict::Allow,
            _ => Verdict::Ask(reason("it writes")),
        });
        let approver = ScriptedApprover::says(Answer::Edited(arguments));
        let rig = Rig::builder().tool(writes_path()).policy(policy).approver(approver.clone()).build();
        (rig.call_now("write", r#"{"path": "/work/a"}"#), approver.asked().len())
    };

    let (allowed, _) = edit(json!({ "path": "/tmp/a" }));
    let (denied, _) = edit(json!({ "path": "/etc/passwd" }));
    let (invalid, _) = edit(json!({ "path": [1] }));
    let (endless, asked) = edit(json!({ "path": "/work/b" }));

    assert_eq!(json(&allowed), json!({ "path": "/tmp/a" }));
    assert_eq!(error(&denied), "denied by rule 7: system files");
    assert_eq!(invalid.status, Status::Invalid);
    assert_eq!(
        (error(&endless).as_str(), asked),
        ("denied by approval: it was changed 8 times without being approved", 8)
    );
}

/// Asks about everything, offering to remember an exact yes, and notes what it is told to remember.
struct Remembers(Mutex<Vec<Grant>>);

impl Policy for Remembers {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Ask(Reason { grants: vec![Grant::Exact], ..reason("it writes") })
    }

    fn granted(&self, _: &PolicyRequest<'_>, grant: Grant) {
        self.0.lock().unwrap().push(grant);
        assert!(grant == Grant::Once, "a policy whose memory breaks");
    }
}

#[test]
fn a_yes_reaches_no_further_than_was_offered_and_a_memory_that_breaks_costs_only_itself() {
    let told = |grant: Grant| {
        let policy = Arc::new(Remembers(Mutex::default()));
        let rig = Rig::builder()
            .tool(writes())
            .policy_arc(policy.clone())
            .approver(ScriptedApprover::says(Answer::Approved(grant)))
            .build();
        let status = rig.call_now("write", "{}").status;
        (status, policy.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    };

    assert_eq!(told(Grant::Once), (Status::Ok, vec![]));
    assert_eq!(told(Grant::Exact), (Status::Ok, vec![Grant::Exact]));
    assert_eq!(told(Grant::Always), (Status::Ok, vec![]));
}

#[test]
fn a_hooks_question_is_asked_beside_the_policys_and_both_must_be_answered() {
    let approver = ScriptedApprover::agrees();
    let hook = Arc::new(
        RecordingHook::named("hook")
            .before(|_| std::future::ready(Ok(Before::Ask { message: "hm".into(), arguments: None }))),
    );
    let rig = Rig::builder()
        .tool(writes())
        .hook(hook)
        .policy(judged(|_| Verdict::Ask(reason("it writes"))))
        .approver(approver.clone())
        .build();

    rig.call_now("write", "{}");

    let rules: Vec<String> = approver.asked().into_iter().map(|asked| asked.reason.rule).collect();
    assert_eq!(rules, ["rule 7", "hook"]);
}

#[test]
fn a_question_can_be_taken_back() {
    let latch = Arc::new(Latch::default());
    let rig = Rig::builder()
        .tool(writes())
        .policy(Careful)
        .approver(ScriptedApprover::agrees_after(&latch))
        .build();

    let (outcome, ()) = block_on(join(rig.call("write", "{}"), async {
        latch.until_arrived(1).await;
        rig.session.cancel();
    }));

    assert_eq!(outcome.status, Status::Cancelled);
}

#[test]
fn what_was_not_declared_cannot_be_used() {
    let tries = |name: &'static str| {
        let run = move |_: Map<String, Value>, cx: hermes_core::cx::ToolCx| async move {
            let command =
                Command { text: "rm x".into(), environment: "local".into(), workdir: "/work".into() };
            let page = PageRequest { first: 1, count: 1, max_line_chars: 10, max_chars: 10 };
            match name {
                "reads" => drop(cx.files().page("/work/b", page).await?),
                "writes" => drop(cx.may_write(Path::new("/work/a"))?),
                "runs" => drop(cx.may_run(&command)?),
                _ => drop(cx.may_connect("b.example")?),
            }
            Ok(json!({}))
        };
        let declared =
            |_: &_, _: &_| vec![Effect::Read("/work/a".into()), Effect::Connect("a.example".into())];
        let outcome = Rig::with([ToolEntry::from_fn("t", "test", any_object(), declared, run).trusted()])
            .call_now("t", "{}");
        (outcome.status, error(&outcome))
    };
    let refused =
        |what: &str| (Status::Denied, format!("not permitted: {what} was not declared before the call"));

    assert_eq!(tries("reads"), refused("reading /work/b"));
    assert_eq!(tries("writes"), refused("writing /work/a"));
    assert_eq!(tries("runs"), refused("running `rm x`"));
    assert_eq!(tries("connects"), refused("connecting to b.example"));
}

#[test]
fn what_was_declared_can_be_used() {
    let run = |_: Map<String, Value>, cx: hermes_core::cx::ToolCx| async move {
        let page = PageRequest { first: 1, count: 1, max_line_chars: 10, max_chars: 10 };
        let permit = cx.may_write(Path::new("/work/out/x"))?;
        cx.files().page("notes.txt", page).await?;
        Ok(json!({ "call": permit.call().as_str(), "path": permit.path() }))
    };
    let declared =
        |_: &_, _: &_| vec![Effect::Read("/work/notes.txt".into()), Effect::Write("/work/out".into())];
    let rig = Rig::with([ToolEntry::from_fn("t", "test", any_object(), declared, run).trusted()]);
    rig.files.write("/work/notes.txt", "hello");

    assert_eq!(json(&rig.call_now("t", "{}")), json!({ "call": "s.1", "path": "/work/out/x" }));
}

#[test]
fn policy_and_record_see_where_a_link_leads() {
    let journal = MemoryJournal::new();
    let inside = judged(|request| {
        let out = |effect: &&Effect| matches!(effect, Effect::Write(path) if !path.starts_with("/work"));
        match request.effects.iter().find(out) {
            Some(effect) => Verdict::Deny(reason(&effect.to_string())),
            None => Verdict::Allow,
        }
    });
    let rig = Rig::builder()
        .tool(effectful("inside", vec![Effect::Write("/work/in/x".into())]))
        .tool(effectful("outside", vec![Effect::Write("/work/link/passwd".into())]))
        .policy(inside)
        .journal(journal.clone())
        .build();
    rig.files.link("/work/link", "/etc");
    rig.files.link("/work/in", "/work/real");

    assert_eq!(error(&rig.call_now("outside", "{}")), "denied by rule 7: writes /etc/passwd");
    assert_eq!(rig.call_now("inside", "{}").status, Status::Ok);
    let effects = journal.records().into_iter().find_map(|record| match record {
        Record::Starting { effects, .. } => Some(effects),
        _ => None,
    });
    assert_eq!(effects.unwrap(), ["writes /work/in/x", "writes /work/real/x"]);
}

#[test]
fn a_tool_that_breaks_while_stating_its_effects_does_not_run() {
    let effects = |_: &_, _: &_| panic!("effects");
    let tool = ToolEntry::from_fn("t", "test", any_object(), effects, |_, _| async { Ok(json!({})) });

    let outcome = Rig::with([tool]).call_now("t", "{}");

    assert_eq!(
        (outcome.status, error(&outcome).as_str()),
        (Status::Broken, "[TOOL_ERROR] Tool execution failed: panic: effects")
    );
}
